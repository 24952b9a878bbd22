import CLinux
import Glibc

/// A serial line in raw mode at 115200 bit/s (termios(3)): unbuffered, no echo, no translation.
public final class SerialPort {
    private let device: OwnedFileDescriptor
    private let previous: termios?

    /// Opening never waits for a carrier. Anything but a terminal is not even opened: a mistyped path may name a disk, or a
    /// watchdog, which restarts the machine when it is opened and not fed.
    public init(_ path: String) throws(SystemCallError) {
        guard try DeviceKind(of: path) == .terminal else {
            throw SystemCallError("stat", number: ENOTTY, subject: path)
        }
        device = try OwnedFileDescriptor(opening: path, flags: O_RDWR | O_NOCTTY | O_NONBLOCK)
        var settings = termios()
        guard tcgetattr(device.rawValue, &settings) == 0 else {
            throw SystemCallError("tcgetattr", subject: path)
        }
        previous = settings
        cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        cfsetspeed(&settings, speed_t(B115200))
        guard tcsetattr(device.rawValue, TCSANOW, &settings) == 0 else {
            throw SystemCallError("tcsetattr", subject: path)
        }
    }

    deinit {
        if var previous { tcsetattr(device.rawValue, TCSANOW, &previous) }
    }

    public var fileDescriptor: Int32 { device.rawValue }

    /// The bytes received so far; `nil` if there are none, empty if the line has hung up.
    public func read() throws(SystemCallError) -> [UInt8]? {
        var block = [UInt8](repeating: 0, count: 256)
        let count = try block.withMutableBytes { bytes throws(SystemCallError) in try device.readIfReady(into: bytes) }
        return count.map { Array(block[..<$0]) }
    }

    /// Writes as much as the line accepts now.
    /// - Returns: bytes written.
    public func write(_ bytes: [UInt8]) throws(SystemCallError) -> Int {
        do throws(SystemCallError) {
            return try bytes.withBytes { bytes throws(SystemCallError) in try device.write(bytes) }
        } catch {
            if error.number == EAGAIN { return 0 }
            throw error
        }
    }
}
