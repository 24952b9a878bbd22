import LinuxIO
import StreamLogic
import Synchronization

/// What another thread has of a `LivePublisher`: it can end it, and change it.
final class PublisherRemote: Sendable {
    let wakeup: EventFD
    private let isStopWanted = Atomic(false)
    private let commands = Mutex<[String]>([])

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

    /// One turn of the publisher's loop.
    /// - Returns: whether to stop now; true once.
    func turn() -> Bool {
        wakeup.drain()
        return isStopWanted.exchange(false, ordering: .relaxed)
    }
}
