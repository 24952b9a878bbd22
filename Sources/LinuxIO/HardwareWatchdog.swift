import CLinux
import Glibc

/// A watchdog that restarts the machine unless it is fed (linux/watchdog.h).
public final class HardwareWatchdog {
    private let device: OwnedFileDescriptor

    /// Starts it.
    /// - Parameter seconds: until it bites; a device that knows only other times takes the nearest.
    public init(_ path: String, seconds: Int32) throws(SystemCallError) {
        device = try OwnedFileDescriptor(opening: path, flags: O_WRONLY)
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
