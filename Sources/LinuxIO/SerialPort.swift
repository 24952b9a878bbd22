import CLinux
import Glibc

/// A serial line in raw mode at 115200 bit/s (termios(3)): every byte as it comes, no echo, nothing translated.
public final class SerialPort {
    private let device: OwnedFileDescriptor
    private let previous: termios?

    /// Opening never waits for a carrier. What is no terminal is not even opened: a mistaken path may be a disk's, or a
    /// watchdog's, which restarts the machine when it has been opened and is not fed.
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

    /// What has come; `nil` when nothing has. Empty when the line has hung up.
    public func read() throws(SystemCallError) -> [UInt8]? {
        var block = [UInt8](repeating: 0, count: 256)
        let count = try block.withMutableBytes { bytes throws(SystemCallError) in try device.readIfReady(into: bytes) }
        return count.map { Array(block[..<$0]) }
    }

    /// Writes what the line takes now.
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
