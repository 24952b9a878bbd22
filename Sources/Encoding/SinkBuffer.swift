import LinuxIO
import Media
import StreamLogic
import StreamQuality
import Synchronization

/// A send buffer. The hub appends on the threads `video`, `encoder` and `audio`; one thread takes: a target's `network`, or
/// one that shows a preview.
public final class SinkBuffer: PacketSink {
    /// Signaled when there is something to take, or when the last packet was appended.
    public let wakeup: EventFD
    /// Whether somebody asks for `takeDelivered`.
    private let knowsDelivered: Bool
    private let hasVideo: Bool
    /// A server accepts one epoch per connection; other sinks continue with the new headers.
    private let endsWithEpoch: Bool
    private let report: @Sendable ([SendBufferEvent]) -> Void
    private let requestKeyframe: @Sendable (SinkBuffer) -> Void
    private let state: Mutex<State>

    private struct State {
        var buffer: SendBuffer
        /// Whether packets are accepted; for a target, from a connection's start to the epoch's end.
        var isOpen: Bool
        var wasOpen = false
        var hasEnded = false
        /// Frames that arrived while packets were not accepted.
        var refusedFrameCount = 0
        var sent = SentCounters()
        /// Unless nobody asks for it.
        var delivered: DeliveredMedia?

        mutating func append(_ packets: [EncodedPacket], _ now: MediaTimestamp) -> [SendBufferEvent] {
            guard isOpen else {
                refusedFrameCount += packets.count { $0.isVideo && !$0.isHeader }
                return []
            }
            var events: [SendBufferEvent] = []
            for packet in packets { events += buffer.append(packet, now: now) }
            return counted(events)
        }

        mutating func counted(_ events: [SendBufferEvent]) -> [SendBufferEvent] {
            for case .droppedItems(let items) in events {
                sent.packetsDropped(items)
                delivered?.dropped(items)
            }
            return events
        }
    }

    /// - Parameters:
    ///   - hub: the hub that it will be added to.
    ///   - knowsDelivered: whether `takeDelivered` will be called, every few seconds.
    ///   - report: receives the buffer's events, on any thread.
    public init(
        of hub: PacketHub, _ policy: SendBufferPolicy, hasVideo: Bool, knowsDelivered: Bool = false,
        report: @escaping @Sendable ([SendBufferEvent]) -> Void = { _ in }
    ) throws(SystemCallError) {
        self.hasVideo = hasVideo
        if case .target = policy { endsWithEpoch = true } else { endsWithEpoch = false }
        self.knowsDelivered = knowsDelivered
        self.report = report
        requestKeyframe = { [weak hub] in hub?.keyframeNeeded(by: $0) }
        wakeup = try EventFD()
        state = Mutex(
            State(
                buffer: SendBuffer(policy), isOpen: !endsWithEpoch, wasOpen: !endsWithEpoch,
                delivered: knowsDelivered ? DeliveredMedia(hasVideo: hasVideo) : nil))
    }

    // MARK: In

    public func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        state.withLock { $0.append(packets, now) }
    }

    /// A target's stream ends here and restarts on the next connection.
    public func epochStarted() { if endsWithEpoch { state.withLock { $0.isOpen = false } } }

    /// The first start need not request a keyframe, because an encoder starts with one.
    public func restart(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        state.withLock { state in
            state.isOpen = true
            guard state.wasOpen else {
                state.wasOpen = true
                return state.append(headers, now)
            }
            state.delivered?.connectionLost()
            return state.counted(state.buffer.connectionOpened(headers: headers, now: now))
        }
    }

    public func mediaEnded() { state.withLock { $0.hasEnded = true } }

    public func wake(_ events: [SendBufferEvent]) {
        wakeup.signal()
        if !events.isEmpty { report(events) }
    }

    /// Passes on events from outside the hub.
    @discardableResult
    private func reported(_ events: [SendBufferEvent]) -> [SendBufferEvent] {
        guard !events.isEmpty else { return events }
        if events.contains(.keyframeNeeded) { requestKeyframe(self) }
        report(events)
        return events
    }

    // MARK: Out

    /// The next packet, which counts as sent.
    public func take() -> EncodedPacket? {
        state.withLock { state in
            guard let packet = state.buffer.takeNext() else { return nil }
            state.sent.packetSent(packet)
            return packet
        }
    }

    /// The packet that was taken last is on its way.
    /// - Parameter endByteCount: of all bytes that the connection got, including this packet's.
    public func handedOver(_ packet: EncodedPacket, endByteCount: Int, on connection: ConnectionID) {
        guard knowsDelivered else { return }
        state.withLock {
            $0.delivered?.handedOut(packet, endByteCount: endByteCount, on: connection.number)
        }
    }

    /// - Parameter byteCount: how many of the connection's bytes have arrived.
    public func delivered(byteCount: Int, on connection: ConnectionID) {
        guard knowsDelivered else { return }
        state.withLock { $0.delivered?.delivered(byteCount: byteCount, on: connection.number) }
    }

    /// Whether a player can start with the next packet: with a keyframe, or with any audio where there is no video.
    public var isStartingNext: Bool {
        state.withLock { hasVideo ? $0.buffer.isKeyframeNext : $0.buffer.waitingByteCount > 0 }
    }

    /// Whether everything was appended and taken.
    public var isFinished: Bool { state.withLock { $0.hasEnded && $0.buffer.waitingByteCount == 0 } }

    /// Whether everything of this epoch was taken.
    public var isDrained: Bool {
        state.withLock { ($0.hasEnded || !$0.isOpen) && $0.buffer.waitingByteCount == 0 }
    }

    @discardableResult
    public func discardWaitingVideo() -> [SendBufferEvent] {
        let now = MonotonicClock.now()
        return reported(state.withLock { $0.counted($0.buffer.discardWaitingVideo(now: now)) })
    }

    // MARK: Contents

    /// Counts of accepted and dropped packets.
    public var sent: SentCounters { state.withLock { $0.sent } }

    /// Frames from before the sink's stream started, or between its end and its next start.
    public var refusedFrameCount: Int { state.withLock { $0.refusedFrameCount } }

    /// Frames that have not been taken yet.
    public var waitingFrameCount: Int { state.withLock { $0.buffer.waitingFrameCount } }

    /// Media waiting here and in the kernel's queue.
    public var duration: Duration { state.withLock { $0.buffer.duration } }

    /// Bytes waiting here and in the kernel's queue.
    public var byteCount: Int { state.withLock { $0.buffer.byteCount } }

    // MARK: The way to a server

    /// The quality controller's input.
    public func measurement(_ encoded: EncodedCounters, now: MediaTimestamp) -> StreamMeasurement {
        state.withLock {
            StreamMeasurement(
                now: now, buffer: $0.buffer, encodedVideoBytes: encoded.encodedVideoBytes,
                encodedFrames: encoded.encodedFrames, skippedFrames: encoded.skippedFrames)
        }
    }

    /// How many bytes may be in flight; more wait here.
    public func limitFlight(to byteCount: Int) { state.withLock { $0.buffer.flightLimit = byteCount } }

    /// Bytes that reached the receiver, and whether more are in flight or waiting.
    public var delivery: (byteCount: Int, isComplete: Bool) {
        state.withLock { ($0.buffer.deliveredByteCount, $0.buffer.undeliveredByteCount == 0) }
    }

    /// Capture times of the media that has reached the receiver since the last call; for `knowsDelivered`.
    public func takeDelivered() -> [Range<MediaTimestamp>] {
        state.withLock { $0.delivered?.take() ?? [] }
    }

    public func kernelQueueMeasured(unsentBytes: Int, unacknowledgedBytes: Int) {
        let now = MonotonicClock.now()
        reported(
            state.withLock {
                $0.counted(
                    $0.buffer.kernelQueueMeasured(
                        unsentBytes: unsentBytes, unacknowledgedBytes: unacknowledgedBytes, now: now))
            })
    }
}
