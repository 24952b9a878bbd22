import Glibc
import LinuxIO
import Media

@testable import Terminal

/// The two ends of a pipe.
final class Pipe: Sendable {
    private let output: OwnedFileDescriptor
    private let inputEnd: OwnedFileDescriptor

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemCallError("pipe") }
        output = OwnedFileDescriptor(adopting: ends[0])
        inputEnd = OwnedFileDescriptor(adopting: ends[1])
    }

    /// The end to write to.
    var input: Int32 { inputEnd.rawValue }
    /// The end to read from.
    var descriptor: Int32 { output.rawValue }

    func write(_ text: String) { write(Array(text.utf8)) }
    func write(_ bytes: [UInt8]) { LinuxIO.write(bytes, to: input) }

    /// The text received so far; waits if there is nothing yet.
    func takeText(waiting limit: Duration = .zero) -> String { takenText(from: descriptor, waiting: limit) }
}

/// A terminal without a screen. A person would see what is written to `terminal`.
final class PseudoTerminal: Sendable {
    /// TIOCSPTLCK and TIOCGPTN, which Swift does not import.
    private static let (setLock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    private let masterEnd: OwnedFileDescriptor
    private let slaveEnd: OwnedFileDescriptor

    init(columns: UInt16 = 80) throws {
        masterEnd = try OwnedFileDescriptor(opening: "/dev/ptmx", flags: O_RDWR | O_NOCTTY)
        var (isLocked, number): (Int32, Int32) = (0, 0)
        guard ioctl(masterEnd.rawValue, Self.setLock, &isLocked) == 0,
            ioctl(masterEnd.rawValue, Self.number, &number) == 0
        else { throw SystemCallError("ioctl", subject: "/dev/ptmx") }
        slaveEnd = try OwnedFileDescriptor(opening: "/dev/pts/\(number)", flags: O_RDWR | O_NOCTTY)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(slaveEnd.rawValue, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemCallError("TIOCSWINSZ") }
    }

    var terminal: Int32 { slaveEnd.rawValue }

    /// The text until this ending, or for a minute, with a terminal's line ends.
    func takeText(until end: String) -> String {
        let deadline = MonotonicClock.now() + .seconds(60)
        var text = ""
        while !text.hasSuffix(end), MonotonicClock.now() < deadline {
            text += takenText(from: masterEnd.rawValue, waiting: .milliseconds(100))
        }
        return text
    }
}

/// Reads what is available, and waits for the first byte.
private func takenText(from descriptor: Int32, waiting limit: Duration) -> String {
    var bytes: [UInt8] = []
    var deadline = MonotonicClock.now() + limit
    while true {
        var entries = [PollEntry(descriptor)]
        guard let count = try? poll(&entries, until: deadline), count > 0 else { break }
        var block = [UInt8](repeating: 0, count: 65_536)
        let length = read(descriptor, &block, block.count)
        guard length > 0 else { break }
        bytes += block[..<length]
        deadline = MonotonicClock.now()
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension Console {
    /// A test may wait longer for the end than a person.
    func finishWriting() { for _ in 0..<20 { finish() } }
}
