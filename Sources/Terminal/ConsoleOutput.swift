import Glibc
import LinuxIO
import Media
import Synchronization

/// Writes what the console says, in order, on a thread of its own.
///
/// A pipe that nobody reads and a terminal that somebody has stopped hold back this thread and
/// no other. What does not fit any more meanwhile is counted, and reported when there is room again.
final class ConsoleOutput: Sendable {
    private struct Waiting {
        var pieces: [(bytes: [UInt8], descriptor: Int32)] = []
        var byteCount = 0
        var lostCount = 0
        var isEnding = false
        var hasEnded = false
    }

    /// Bytes that may wait for a reader.
    private static let capacity = 1 << 20

    private let waiting = Mutex(Waiting())
    private let work: EventFD
    private let end: EventFD

    /// Where people read what is wrong with the output.
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
                waiting.lostCount += 1
                return
            }
            waiting.pieces.append((bytes, descriptor))
            waiting.byteCount += bytes.count
        }
        work.signal()
    }

    /// Waits until everything is written, but no longer than `timeout`. Nothing may be appended afterwards.
    func finish(within timeout: Duration) {
        waiting.withLock { $0.isEnding = true }
        work.signal()
        let deadline = MonotonicClock.now() + timeout
        while !waiting.withLock({ $0.hasEnded }), MonotonicClock.now() < deadline {
            var entries = [PollEntry(end.fileDescriptor)]
            guard (try? poll(&entries, until: deadline)) != nil else { return }
        }
    }

    private static func start(_ output: ConsoleOutput) throws(SystemCallError) {
        // A terminal that somebody has stopped, or a full pipe, is no reason to restart the machine.
        _ = try NamedThread("console", mayBlock: true) { output.writeAll() }
    }

    private func writeAll() {
        while true {
            var entries = [PollEntry(work.fileDescriptor)]
            guard (try? poll(&entries, until: nil)) != nil else { return }
            work.drain()
            let (pieces, lostCount, isEnding) = waiting.withLock { waiting in
                defer {
                    waiting.pieces = []
                    waiting.lostCount = 0
                }
                return (waiting.pieces, waiting.lostCount, waiting.isEnding)
            }
            for piece in pieces {
                write(piece.bytes, to: piece.descriptor)
                waiting.withLock { $0.byteCount -= piece.bytes.count }
            }
            if lostCount > 0 {
                write(Array("tallycam: \(lostCount) lines are lost, since nobody read them\n".utf8), to: log)
            }
            if isEnding { break }
        }
        waiting.withLock { $0.hasEnded = true }
        end.signal()
    }
}
