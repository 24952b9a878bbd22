import Encoding
import LinuxIO
import Media
import RecordingLogic
import StreamQuality
import Synchronization

/// A recorder's place at the hub. The hub appends on the encoders' threads; the thread `recording` takes. A full buffer drops
/// whole GOPs and says so, and the stream goes on.
public final class RecordingSink: PacketArchive {
    /// Signaled when there is something to take.
    let wakeup: EventFD
    private let orders: Mailbox<RecorderWork.Order>
    private let report: @Sendable (RecordingEvent) -> Void
    private let state: Mutex<State>

    fileprivate struct State {
        var buffer: RecordingBuffer
        /// To be reported without the hub's lock.
        var events: [RecordingEvent] = []
    }

    init(
        limit: Int, hasVideo: Bool, orders: Mailbox<RecorderWork.Order>,
        report: @escaping @Sendable (RecordingEvent) -> Void
    ) throws(SystemCallError) {
        wakeup = try EventFD()
        self.orders = orders
        self.report = report
        state = Mutex(State(buffer: RecordingBuffer(limit: limit, hasVideo: hasVideo)))
    }

    // MARK: In

    public func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        state.withLock { state in
            var needsKeyframe = false
            for packet in packets {
                for event in state.buffer.append(packet, now: now) {
                    switch event {
                    case .droppingStarted: state.events.append(.droppingStarted)
                    case .resumed(let loss): state.events.append(.droppingEnded(loss))
                    case .keyframeNeeded: needsKeyframe = true
                    }
                }
            }
            return needsKeyframe ? [.keyframeNeeded] : []
        }
    }

    public func restart(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        append(headers, now: now)
    }

    public func epochStarted() { state.withLock { $0.buffer.epochStarted() } }

    /// The next packets are another stream's.
    public func mediaEnded() { state.withLock { $0.buffer.streamEnded() } }

    public func wake(_ events: [SendBufferEvent]) {
        wakeup.signal()
        for event in state.withLock({ $0.takeEvents() }) { report(event) }
    }

    public func acknowledged(by target: String, _ range: Range<MediaTimestamp>) {
        orders.send(.acknowledged(target: target, range))
    }

    // MARK: Out

    func open() { state.withLock { $0.buffer.open() } }

    func close() {
        state.withLock { if let loss = $0.buffer.close() { $0.events.append(.droppingEnded(loss)) } }
        for event in state.withLock({ $0.takeEvents() }) { report(event) }
    }

    func takeAll() -> [RecordingBuffer.Item] {
        wakeup.drain()
        return state.withLock { $0.buffer.takeAll() }
    }

    func settled(heldByteCount: Int) { state.withLock { $0.buffer.settled(heldByteCount: heldByteCount) } }

    /// Bytes that are not in a file yet.
    public var byteCount: Int { state.withLock { $0.buffer.byteCount } }

    /// Whether the disk is too slow right now.
    public var isDropping: Bool { state.withLock { $0.buffer.isDropping } }
}

extension RecordingSink.State {
    fileprivate mutating func takeEvents() -> [RecordingEvent] {
        defer { events.removeAll() }
        return events
    }
}
