import LinuxIO
import Synchronization

/// What another thread has of a `LivePublisher`: it can end it, change it, and ask whether it is alive.
final class PublisherRemote: Sendable {
    let wakeup: EventFD
    private let isStopWanted = Atomic(false)
    private let commands = Mutex<[String]>([])
    private let asked = Atomic<UInt64>(0)
    private let answered = Atomic<UInt64>(0)

    init() throws(SystemCallError) { wakeup = try EventFD() }

    /// Asks the publisher to end the stream in order.
    func stop() {
        isStopWanted.store(true, ordering: .relaxed)
        wakeup.signal()
    }

    /// A line as `ConfigurationTransaction` takes it. What becomes of it is told by events.
    func command(_ line: String) {
        commands.withLock { $0.append(line) }
        wakeup.signal()
    }

    func takeCommands() -> [String] {
        commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }

    /// Asks for a sign of life.
    func ask() {
        asked.add(1, ordering: .relaxed)
        wakeup.signal()
    }

    /// Whether the publisher has answered since it was asked last.
    var hasAnswered: Bool { answered.load(ordering: .relaxed) == asked.load(ordering: .relaxed) }

    /// One turn of the publisher's loop: the sign of life.
    /// - Returns: whether to stop now; true once.
    func turn() -> Bool {
        wakeup.drain()
        answered.store(asked.load(ordering: .relaxed), ordering: .relaxed)
        return isStopWanted.exchange(false, ordering: .relaxed)
    }
}
