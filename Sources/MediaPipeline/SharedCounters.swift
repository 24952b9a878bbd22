import StreamLogic
import Synchronization

/// Every thread of a publisher adds to them.
public final class SharedCounters: Sendable {
    private let counters = Mutex(PublishCounters())

    public init() {}

    public var snapshot: PublishCounters { counters.withLock { $0 } }
    public func update(_ body: (inout PublishCounters) -> Void) { counters.withLock { body(&$0) } }
}
