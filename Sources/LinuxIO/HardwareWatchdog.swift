import CLinux
import Glibc

/// A watchdog that restarts the machine unless it is fed (linux/watchdog.h).
public final class HardwareWatchdog {
    private let device: OwnedFileDescriptor

    /// Arms the watchdog. Anything that is not a watchdog is not even opened: a mistyped path may name a disk.
    /// - Parameters:
    ///   - seconds: the timeout; a device with fixed steps takes the nearest one.
    ///   - isSimulated: accept a terminal in place of the watchdog, so that a test sees what is written.
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
        // Some devices have one fixed timeout; that is fine too.
        _ = clinux_set_watchdog_timeout(device.rawValue, &timeout)
    }

    public func feed() throws(SystemCallError) { try device.writeAll([0]) }

    /// Disarms it for an intended exit, if the driver allows that. Do not feed it afterwards.
    public func disarm() {
        // This character tells the driver that the exit is intended (magic close).
        try? device.writeAll([UInt8(ascii: "V")])
    }
}
