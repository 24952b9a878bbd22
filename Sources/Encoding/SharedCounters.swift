import StreamLogic
import Synchronization

/// Every thread of a stream's sources and encoders adds to them.
public final class SharedCounters: Sendable {
    private let counters = Mutex(EncodedCounters())

    public init() {}

    public var snapshot: EncodedCounters { counters.withLock { $0 } }
    public func update(_ body: (inout EncodedCounters) -> Void) { counters.withLock { body(&$0) } }
}
