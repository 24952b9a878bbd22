import StreamLogic
import Synchronization

/// Every thread of a publisher adds to them.
final class SharedCounters: Sendable {
    private let counters = Mutex(PublishCounters())

    var snapshot: PublishCounters { counters.withLock { $0 } }
    func update(_ body: (inout PublishCounters) -> Void) { counters.withLock { body(&$0) } }
}
