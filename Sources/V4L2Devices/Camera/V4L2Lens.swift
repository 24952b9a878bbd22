import Glibc
import LinuxIO

/// A lens with its own device node, for cameras whose parts are linked by the media controller.
final class V4L2Lens: V4L2Node, Sendable {
    let path: String
    private let descriptor: OwnedFileDescriptor
    var fileDescriptor: Int32 { descriptor.rawValue }

    /// - Returns: `nil` if the camera has no separate lens, or it cannot be opened.
    init?(of camera: V4L2Device) {
        guard let node = camera.path.split(separator: "/").last, let number = Self.number(ofVideoNode: node) else {
            return nil
        }
        let folder = "/sys/class/video4linux/\(node)/device"
        let media = ((try? fileNames(in: folder)) ?? []).filter { $0.hasPrefix("media") }.sorted()
        let lens = media.lazy.compactMap { MediaGraph(of: "/dev/\($0)")?.lens(of: number) }.first
        guard let lens, let path = Self.path(of: lens),
            let descriptor = try? OwnedFileDescriptor(opening: path, flags: O_RDWR | O_NONBLOCK)
        else { return nil }
        self.path = path
        self.descriptor = descriptor
    }

    private static func number(ofVideoNode node: some StringProtocol) -> MediaGraph.NodeNumber? {
        guard let bytes = try? readFile("/sys/class/video4linux/\(node)/dev", limit: 64) else { return nil }
        let numbers = String(decoding: bytes.prefix { $0 >= 0x20 }, as: UTF8.self).split(separator: ":").map {
            UInt32($0)
        }
        guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        return MediaGraph.NodeNumber(major: major, minor: minor)
    }

    /// The node's path, according to the kernel.
    private static func path(of node: MediaGraph.NodeNumber) -> String? {
        guard let bytes = try? readFile("/sys/dev/char/\(node.major):\(node.minor)/uevent", limit: 4096) else {
            return nil
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("DEVNAME=") }.map { "/dev/\($0.dropFirst(8))" }
    }
}
