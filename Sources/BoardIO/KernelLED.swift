import CLinux
import Glibc
import LinuxIO

/// An LED of the kernel's LED class; a flash's torch may be one. It goes dark when the object goes away. Used from one thread.
public final class KernelLED {
    private static let directory = "/sys/class/leds"
    private let brightness: String
    private let largest: String
    private let name: String

    /// - Parameter name: as in /sys/class/leds.
    public init(name: String) throws(BoardIOError) {
        let path = "\(Self.directory)/\(name)"
        guard !name.utf8.contains(UInt8(ascii: "/")), name != "..", name != ".", access(path, F_OK) == 0 else {
            throw .noSuchLED(name: name)
        }
        self.name = name
        brightness = "\(path)/brightness"
        do throws(SystemCallError) {
            let text = try readFile("\(path)/max_brightness", limit: 32)
            largest = String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            // Disable the kernel's own trigger, which would compete with this program.
            if access("\(path)/trigger", F_OK) == 0 { try write("none", to: "\(path)/trigger") }
            try write("0", to: brightness)
        } catch {
            throw .failed(error)
        }
    }

    deinit { try? write("0", to: brightness) }

    public var isThere: Bool { access(brightness, W_OK) == 0 }

    public func set(isLit: Bool) throws(BoardIOError) {
        do throws(SystemCallError) {
            try write(isLit ? largest : "0", to: brightness)
        } catch {
            throw .failed(error)
        }
    }

    /// The names of all LEDs.
    public static var names: [String] {
        ((try? fileNames(in: directory)) ?? []).filter { $0 != "." && $0 != ".." }.sorted()
    }
}

private func write(_ text: String, to path: String) throws(SystemCallError) {
    let file = try OwnedFileDescriptor(opening: path, flags: O_WRONLY)
    try file.writeAll(Array(text.utf8))
}
