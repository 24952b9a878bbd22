import CLinux
import Glibc

/// The kind of a device file, found without opening it. Opening a pipe may block, and opening a watchdog arms it.
enum DeviceKind {
    case terminal
    case watchdog
    case other

    /// - Throws: `ENOENT` and similar; `ENODEV` for anything but a character device.
    init(of path: String) throws(SystemCallError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemCallError("stat", subject: path) }
        guard status.st_mode & S_IFMT == S_IFCHR else { throw SystemCallError("stat", number: ENODEV, subject: path) }
        let device = UInt64(status.st_rdev)
        // The inverse of makedev(3).
        let major: UInt64 = (device >> 8 & 0xFFF) | (device >> 32 & 0xFFFF_F000)
        let minor: UInt64 = (device & 0xFF) | (device >> 12 & 0xFFFF_FF00)
        let number = (major: UInt32(major), minor: UInt32(minor))
        if Self.isTerminal(number) {
            self = .terminal
        } else {
            self = Self.isWatchdog(number) ? .watchdog : .other
        }
    }

    /// /proc/tty/drivers: name, path, major number, one minor number or a range of them, kind (proc_tty(5)).
    private static func isTerminal(_ number: (major: UInt32, minor: UInt32)) -> Bool {
        guard let table = try? readFile("/proc/tty/drivers", limit: 1 << 16) else { return false }
        return String(decoding: table, as: UTF8.self).split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            guard fields.count > 3, UInt32(fields[2]) == number.major else { return false }
            let minors = fields[3].split(separator: "-").compactMap { UInt32($0) }
            guard let first = minors.first, let last = minors.last else { return false }
            return first <= number.minor && number.minor <= last
        }
    }

    /// The first watchdog always has number 10:130; the others are found through their class in sysfs.
    private static func isWatchdog(_ number: (major: UInt32, minor: UInt32)) -> Bool {
        if number == (10, 130) { return true }
        let device = Array("\(number.major):\(number.minor)\n".utf8)
        return (0..<16).contains { (try? readFile("/sys/class/watchdog/watchdog\($0)/dev", limit: 64)) == device }
    }
}
