import CLinux
import Glibc

/// A watchdog that restarts the machine unless it is fed (linux/watchdog.h).
public final class HardwareWatchdog {
    private let device: OwnedFileDescriptor

    /// Starts it. What is no watchdog is not even opened: a path that is mistaken may be a disk's.
    /// - Parameters:
    ///   - seconds: until it bites; a device that knows only other times takes the nearest.
    ///   - isSimulated: a terminal stands for the watchdog, and what is written is seen at its other end.
    public init(_ path: String, seconds: Int32, isSimulated: Bool = false) throws(SystemCallError) {
        let kind = try DeviceKind(of: path)
        guard kind == .watchdog || isSimulated && kind == .terminal else {
            throw SystemCallError("stat", number: ENODEV, subject: path)
        }
        device = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_NOCTTY)
        guard (isSimulated && isatty(device.rawValue) == 1) || clinux_ask_watchdog(device.rawValue) == 0 else {
            throw SystemCallError("ioctl WDIOC_GETSUPPORT", subject: path)
        }
        var timeout = seconds
        // Some have one fixed time; they are as good.
        _ = clinux_set_watchdog_timeout(device.rawValue, &timeout)
    }

    public func feed() throws(SystemCallError) { try device.writeAll([0]) }

    /// Stops it, where the driver allows that: for an end that is meant. It is not to be fed after that.
    public func disarm() {
        // The character by which drivers tell a meant end from a crash.
        try? device.writeAll([UInt8(ascii: "V")])
    }
}
