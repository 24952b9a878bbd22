import DequeModule
import Media

/// Encoded media on its way to the network, measured in seconds.
///
/// The duration counts what waits here and what the kernel holds unsent, as time, by the packets' own timestamps;
/// the longer of the two tracks counts. Its policy decides what happens when more comes than may wait. For a target,
/// frames are dropped up to the newest keyframe that waits, or all of them when none does: so always the whole rest of a
/// GOP, and never a frame that a sent one refers to. Audio goes last, and oldest first. Sequence headers are never dropped.
///
/// Each packet costs constant time, taken over its life. Memory is bounded: for a target, at most `maxDuration` of video
/// waits, a quarter of a second more of audio, and at most `SendBufferLimits.maxByteCount` bytes.
public struct SendBuffer: Sendable {
    struct Item {
        let packet: EncodedPacket
        /// The time that it adds: from its predecessor's decode time to its own when that one is still on its way;
        /// a frame after a pause adds none. None for a header either.
        let span: Duration
        /// Rises with every packet: the order in which the two tracks go out.
        let order: Int
    }

    public let limits: SendBufferLimits
    let policy: SendBufferPolicy
    /// Bytes that may be under way without being acknowledged; more waits here, where it can be given up for newer
    /// frames, and does not overflow the queue of a router. `nil` for no limit.
    public var flightLimit: Int?

    var waiting = PerTrack<Deque<Item>>(video: [], audio: [])
    private var waitingSpan = PerTrack(video: Duration.zero, audio: .zero)
    var newestTime = PerTrack<MediaTimestamp?>(video: nil, audio: nil)
    /// The order of each keyframe that waits.
    var keyframes: Deque<Int> = []
    private var nextOrder = 0
    var unsent = ByteLedger()
    var unacknowledged = ByteLedger()

    /// Frames are refused up to the next keyframe, which was last asked for at `requestedAt`.
    var isAwaitingKeyframe = true
    private var requestedAt: MediaTimestamp?
    var alarms: SendBufferAlarms

    /// Bytes of the packets that wait here; the kernel's not counted.
    public internal(set) var waitingByteCount = 0
    /// More came than a recording may hold: it ends with what waits.
    public internal(set) var hasOverflowed = false
    var handedOutByteCount = 0
    private var largestDelivery = 0

    /// RTMP's chunk headers and FLV's media header add about so much to each packet.
    static let overheadPerPacket = 14
    /// A keyframe that did not come is asked for again after this long: encoders may skip the frame.
    private static let keyframeRetry = Duration.seconds(1)
    /// One packet never counts for more, whatever a source's timestamps do.
    private static let longestSpan = Duration.seconds(1)
    /// A keyframe that waits is used for a jump to live video when it is not older than this.
    static let recentTime = Duration.seconds(1)
    static let audioGrace = Duration.milliseconds(250)

    public init(_ policy: SendBufferPolicy = .target(.standard)) {
        self.policy = policy
        limits = policy.limits
        alarms = SendBufferAlarms(limits: limits)
    }

    // MARK: What it holds

    /// Media waiting here and unsent in the kernel.
    public var duration: Duration { max(span(.video, with: unsent), span(.audio, with: unsent)) }

    /// Where `duration` lies between the thresholds.
    public var level: SendBufferLevel { alarms.level }

    /// The same with what was sent and not yet acknowledged: how late the receiver is, without the way there.
    public var deliveryDelay: Duration {
        max(span(.video, with: unacknowledged), span(.audio, with: unacknowledged))
    }

    /// Frames waiting here.
    public var waitingFrameCount: Int { waiting.video.count { !$0.packet.isHeader } }

    /// Bytes waiting here and unsent in the kernel.
    public var byteCount: Int { waitingByteCount + unsent.byteCount }

    /// Bytes waiting here and handed out without being acknowledged yet.
    public var undeliveredByteCount: Int { waitingByteCount + unacknowledged.byteCount }

    /// Bytes that were taken in since the buffer was made, whatever became of them.
    public private(set) var appendedByteCount = 0

    /// Bytes that reached the receiver since the buffer was made. Never falls.
    public var deliveredByteCount: Int { largestDelivery }

    func span(_ track: Track, with ledger: ByteLedger) -> Duration { waitingSpan[track] + ledger.span[track] }

    // MARK: In

    /// Takes a packet that the encoder gave. Video and audio come each in the order of their decode times.
    public mutating func append(_ packet: EncodedPacket, now: MediaTimestamp) -> [SendBufferEvent] {
        var events: [SendBufferEvent] = []
        if overflows(with: packet, &events) { return events }
        if packet.isHeader {
            enqueue(packet)
            return events
        }
        if packet.isVideo, isAwaitingKeyframe {
            guard packet.isKeyframe else {
                newestTime.video = packet.decodeTime
                events.append(.droppedItems([packet.dropped(.awaitingKeyframe)]))
                if isRetryDue(now) { requestKeyframe(now, &events) }
                return events
            }
            isAwaitingKeyframe = false
        }
        enqueue(packet)
        alarms.durationMeasured(duration, byteCount: byteCount, &events)
        makeRoom(now, &events)
        return events
    }

    mutating func enqueue(_ packet: EncodedPacket) {
        let track = packet.track
        let item = Item(packet: packet, span: span(of: packet), order: nextOrder)
        if !packet.isHeader { newestTime[track] = packet.decodeTime }
        if packet.isKeyframe { keyframes.append(nextOrder) }
        nextOrder += 1
        waiting[track].append(item)
        waitingByteCount += packet.wireByteCount
        waitingSpan[track] += item.span
        appendedByteCount += packet.wireByteCount
    }

    private func span(of packet: EncodedPacket) -> Duration {
        let track = packet.track
        guard !packet.isHeader, let newest = newestTime[track] else { return .zero }
        guard !waiting[track].isEmpty || unacknowledged.count[track] > 0 else { return .zero }
        return min(max(.zero, packet.decodeTime - newest), Self.longestSpan)
    }

    func isRetryDue(_ now: MediaTimestamp) -> Bool {
        requestedAt.map { now - $0 >= Self.keyframeRetry } ?? true
    }

    mutating func requestKeyframe(_ now: MediaTimestamp, _ events: inout [SendBufferEvent]) {
        requestedAt = now
        events.append(.keyframeNeeded)
    }

    // MARK: Out

    /// Whether `takeNext` would give a keyframe.
    public var isKeyframeNext: Bool {
        guard let video = waiting.video.first, video.packet.isKeyframe else { return false }
        return waiting.audio.first.map { video.order < $0.order } ?? true
    }

    /// Takes the next packet to be sent. For a target it counts as unsent until the kernel's queue says otherwise.
    /// - Returns: `nil` when nothing waits, or enough is under way.
    public mutating func takeNext() -> EncodedPacket? {
        if let flightLimit, unacknowledged.byteCount >= flightLimit { return nil }
        let track: Track
        switch (waiting.video.first, waiting.audio.first) {
        case (nil, nil): return nil
        case (_?, nil): track = .video
        case (nil, _?): track = .audio
        case (let video?, let audio?): track = video.order < audio.order ? .video : .audio
        }
        let item = removeFirst(track)
        guard case .target = policy else { return item.packet }
        let byteCount = item.packet.wireByteCount
        unsent.append(byteCount: byteCount, track: track, span: item.span)
        unacknowledged.append(byteCount: byteCount, track: track, span: item.span)
        handedOutByteCount += byteCount
        return item.packet
    }

    mutating func removeFirst(_ track: Track) -> Item {
        let item = waiting[track].removeFirst()
        if item.packet.isKeyframe { keyframes.removeFirst() }
        waitingByteCount -= item.packet.wireByteCount
        waitingSpan[track] -= item.span
        return item
    }

    /// Tells what is left of the packets that were handed out. To be called after each write, and ten times a second.
    /// - Parameters:
    ///   - unsentBytes: what the transport and the kernel hold and have not sent (SIOCOUTQNSD).
    ///   - unacknowledgedBytes: the same and what was sent without being acknowledged (SIOCOUTQ);
    ///     `nil` when it is not known.
    public mutating func kernelQueueMeasured(
        unsentBytes: Int, unacknowledgedBytes: Int? = nil, now: MediaTimestamp
    ) -> [SendBufferEvent] {
        unsent.trim(to: unsentBytes)
        unacknowledged.trim(to: max(unsentBytes, unacknowledgedBytes ?? 0))
        let onTheWay = min(max(0, max(unsentBytes, unacknowledgedBytes ?? 0)), unacknowledged.byteCount)
        largestDelivery = max(largestDelivery, handedOutByteCount - onTheWay)
        var events: [SendBufferEvent] = []
        let wasFull = alarms.isFull
        alarms.durationMeasured(duration, byteCount: byteCount, &events)
        // While full, a keyframe would have been dropped again; now there is room for one.
        if isAwaitingKeyframe, wasFull, !alarms.isFull { requestKeyframe(now, &events) }
        return events
    }
}

extension EncodedPacket {
    /// About what it takes on the wire.
    var wireByteCount: Int { payload.count + SendBuffer.overheadPerPacket }

    func dropped(_ reason: DroppedItem.Reason) -> DroppedItem {
        DroppedItem(kind: kind, decodeTime: decodeTime, byteCount: payload.count, reason: reason)
    }
}
