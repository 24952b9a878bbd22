import Glibc
import LinuxIO

/// Explains why libcamera lists no cameras, from what the kernel shows.
public struct CameraAbsence: Sendable {
    /// Prefix of /dev and /sys.
    private let root: String

    public init() { self.init(root: "") }

    init(root: String) { self.root = root }

    /// Why there is no camera at all.
    public var reason: String {
        let nodes = nodes
        guard !nodes.isEmpty else { return reasonWithoutNodes }
        if let note { return note }
        if let heapless { return heapless }
        if let driverless { return driverless }
        return "the kernel has \(nodes.joined(separator: ", ")), but none of them is a camera that libcamera supports "
            + "(use v4l2:/dev/videoN for others); check the cable, and the camera's overlay in config.txt"
    }

    /// Why cameras may be missing from the list although others are there: this user may not open some devices, or another
    /// program has locked them.
    public var note: String? {
        let nodes = nodes
        if let forbidden = nodes.first(where: { access(root + $0, R_OK | W_OK) != 0 }) {
            return "\(forbidden) cannot be opened: permission denied; run as root or join the group video"
        }
        let holders = nodes.compactMap { node in holder(of: node).map { "\(node) (process \($0))" } }
        guard !holders.isEmpty else { return nil }
        return "\(holders.joined(separator: ", ")) is in use by another program, and its cameras may be missing"
    }

    private var nodes: [String] {
        let names = entries("/dev")
        return ["media", "video"].flatMap { kind in
            names.filter { $0.hasPrefix(kind) && Int($0.dropFirst(kind.utf8.count)) != nil }
                .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
        }.map { "/dev/\($0)" }
    }

    private var reasonWithoutNodes: String {
        let known = (entries("/sys/bus/media/devices") + entries("/sys/class/video4linux")).sorted()
        if !known.isEmpty {
            return "the kernel has \(known.joined(separator: ", ")), but /dev has no nodes for them (devtmpfs or udev "
                + "makes these)"
        }
        return driverless
            ?? "the kernel shows none (no /dev/media* and no /dev/video*); check the cable, and that the camera's driver "
            + "is loaded"
    }

    /// A Raspberry Pi's receiver. libcamera leaves out its cameras if there is no contiguous memory.
    private var heapless: String? {
        let nodes = entries("/sys/class/video4linux")
        guard nodes.contains(where: { text("/sys/class/video4linux/\($0)/name") == "unicam-image" }),
            !["linux,cma", "reserved"].contains(where: { exists("/dev/dma_heap/\($0)") })
        else { return nil }
        return
            "there is a receiver for camera modules, but no heap of contiguous memory (/dev/dma_heap/linux,cma), which "
            + "libcamera needs; the kernel lacks CONFIG_DMABUF_HEAPS_CMA"
    }

    /// A camera that the kernel knows but no driver has claimed.
    private var driverless: String? {
        for device in entries("/sys/bus/i2c/devices").sorted() {
            let path = "/sys/bus/i2c/devices/\(device)"
            // On such a bus, only a sensor has ports that lead to a receiver.
            let parts = entries("\(path)/of_node")
            guard parts.contains(where: { $0 == "port" || $0 == "ports" }), !exists("\(path)/driver") else { continue }
            let name = text("\(path)/name").map { " (\($0))" } ?? ""
            return "there is a sensor at \(device)\(name), but it has no driver; check that its module is loaded, "
                + "and the cable"
        }
        for interface in entries("/sys/bus/usb/devices").sorted() {
            let path = "/sys/bus/usb/devices/\(interface)"
            guard text("\(path)/bInterfaceClass") == "0e", !exists("\(path)/driver") else { continue }
            return "there is a USB camera at \(interface), but it has no driver; load uvcvideo"
        }
        return nil
    }

    /// The process that has locked a device node; libcamera locks a camera's media device this way.
    private func holder(of node: String) -> Int32? {
        guard node.hasPrefix("/dev/media"), let file = try? OwnedFileDescriptor(opening: root + node, flags: O_RDWR)
        else { return nil }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        guard fcntl(file.rawValue, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return lock.l_pid
    }

    private func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    private func text(_ path: String) -> String? {
        guard let bytes = try? readFile(root + path, limit: 4096) else { return nil }
        return String(decoding: bytes.prefix { $0 >= 0x20 }, as: UTF8.self)
    }

    /// Names in a folder, without `.` and `..`.
    private func entries(_ path: String) -> [String] {
        guard let folder = opendir(root + path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
