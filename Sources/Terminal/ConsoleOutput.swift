import Glibc
import LinuxIO
import Media
import Synchronization

/// Writes the console's output in order, on its own thread.
///
/// A pipe that is not read or a stopped terminal blocks only this thread. Lines that do not fit meanwhile are counted,
/// and reported when there is room again.
final class ConsoleOutput: Sendable {
    private typealias Piece = (bytes: [UInt8], descriptor: Int32)

    private struct Waiting {
        var pieces: [Piece] = []
        var byteCount = 0
        /// Where the thread is writing.
        var descriptor: Int32?
        var droppedCount = 0
        var isEnding = false
        var hasEnded = false

        mutating func append(_ piece: Piece) {
            pieces.append(piece)
            byteCount += piece.bytes.count
        }

        /// The pieces to write, preceded by a report of dropped lines.
        mutating func take(log: Int32) -> [Piece] {
            if droppedCount > 0 {
                append((Array("tallycam: \(droppedCount) lines dropped: the output is not being read\n".utf8), log))
            }
            defer { (pieces, droppedCount) = ([], 0) }
            return pieces
        }
    }

    /// How long `finish` waits for an output that still makes progress: a disk may hang.
    private static let longestEnd = Duration.seconds(10)

    /// The most bytes that wait for a reader.
    private static let capacity = 1 << 20

    private let waiting = Mutex(Waiting())
    private let work: EventFD
    private let end: EventFD

    /// Where people read about problems of the output.
    private let log: Int32

    init(log: Int32) throws(SystemCallError) {
        self.log = log
        work = try EventFD()
        end = try EventFD()
        try Self.start(self)
    }

    /// Never waits.
    func append(_ bytes: [UInt8], to descriptor: Int32) {
        guard !bytes.isEmpty else { return }
        waiting.withLock { waiting in
            guard waiting.byteCount + bytes.count <= Self.capacity else {
                waiting.droppedCount += 1
                return
            }
            waiting.append((bytes, descriptor))
        }
        work.signal()
    }

    /// Waits until everything is written. Gives up only if a full output has made no progress for `patience`: on a busy
    /// machine the thread may be late although the output is being read. Nothing may be appended afterwards.
    func finish(patience: Duration) {
        waiting.withLock { $0.isEnding = true }
        work.signal()
        let deadline = MonotonicClock.now() + Self.longestEnd
        var remaining = Int.max
        while let (byteCount, descriptor) = unwritten(), MonotonicClock.now() < deadline {
            if let descriptor, byteCount == remaining, Self.isFull(descriptor) { return }
            remaining = byteCount
            var entries = [PollEntry(end.fileDescriptor)]
            guard (try? poll(&entries, until: MonotonicClock.now() + patience)) != nil else { return }
        }
    }

    /// The bytes still to be written, and where the thread is writing; `nil` after its end.
    private func unwritten() -> (byteCount: Int, descriptor: Int32?)? {
        waiting.withLock { $0.hasEnded ? nil : ($0.byteCount, $0.descriptor) }
    }

    private static func isFull(_ descriptor: Int32) -> Bool {
        var entries = [PollEntry(descriptor, .writable)]
        return (try? poll(&entries, until: MonotonicClock.now())) == 0
    }

    private static func start(_ output: ConsoleOutput) throws(SystemCallError) {
        // A stopped terminal or a full pipe must not make the watchdog restart the machine.
        _ = try NamedThread("console", mayBlock: true) { output.writeAll() }
    }

    private func writeAll() {
        while true {
            var entries = [PollEntry(work.fileDescriptor)]
            guard (try? poll(&entries, until: nil)) != nil else { return }
            work.drain()
            let (pieces, isEnding) = waiting.withLock { ($0.take(log: log), $0.isEnding) }
            for piece in pieces { write(piece) }
            if isEnding { break }
        }
        waiting.withLock { $0.hasEnded = true }
        end.signal()
    }

    private func write(_ piece: Piece) {
        waiting.withLock { $0.descriptor = piece.descriptor }
        LinuxIO.write(piece.bytes, to: piece.descriptor)
        waiting.withLock { waiting in
            waiting.descriptor = nil
            waiting.byteCount -= piece.bytes.count
        }
    }
}
