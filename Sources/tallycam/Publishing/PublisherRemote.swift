import LinuxIO
import Synchronization

/// What another thread has of a `LivePublisher`: it can end it.
final class PublisherRemote: Sendable {
    let wakeup: EventFD
    private let isStopWanted = Atomic(false)

    init() throws(SystemCallError) { wakeup = try EventFD() }

    /// Asks the publisher to end the stream in order.
    func stop() {
        isStopWanted.store(true, ordering: .relaxed)
        wakeup.signal()
    }

    /// One turn of the publisher's loop.
    /// - Returns: whether to stop now; true once.
    func turn() -> Bool {
        wakeup.drain()
        return isStopWanted.exchange(false, ordering: .relaxed)
    }
}
