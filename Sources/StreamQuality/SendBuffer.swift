import DequeModule
import Media

/// Encoded media on its way to the network, measured in seconds.
///
/// The duration covers media waiting here and media unsent in the kernel, by the packets' own timestamps; the longer of
/// the two tracks counts. The policy decides what happens when the buffer overflows. For a target, frames are dropped
/// up to the newest waiting keyframe, or all frames if none waits. So the whole rest of a GOP is dropped, and never a
/// frame that a sent one refers to. Audio is dropped last, oldest first. Sequence headers are never dropped.
///
/// Each packet costs amortized constant time. Memory is bounded: for a target, at most `maxDuration` of video waits, a
/// quarter of a second more of audio, and at most `SendBufferLimits.maxByteCount` bytes.
public struct SendBuffer: Sendable {
    struct Item {
        let packet: EncodedPacket
        /// The time it adds: from its predecessor's decode time to its own, if the predecessor is still on its way. A
        /// frame after a pause adds nothing, and neither does a header.
        let span: Duration
        /// Increases with every packet: the order in which the packets of both tracks are sent.
        let order: Int
    }

    public let limits: SendBufferLimits
    let policy: SendBufferPolicy
    /// Most bytes in flight without acknowledgment; `nil` for no limit. Further bytes wait here, where they can be
    /// dropped for newer frames and do not overflow a router's queue.
    public var flightLimit: Int?

    var waiting = PerTrack<Deque<Item>>(video: [], audio: [])
    private var waitingSpan = PerTrack(video: Duration.zero, audio: .zero)
    var newestTime = PerTrack<MediaTimestamp?>(video: nil, audio: nil)
    /// The order of each waiting keyframe.
    var keyframes: Deque<Int> = []
    private var nextOrder = 0
    var unsent = ByteLedger()
    var unacknowledged = ByteLedger()

    /// Frames are refused until the next keyframe, which was last requested at `requestedAt`.
    var isAwaitingKeyframe = true
    private var requestedAt: MediaTimestamp?
    var alarms: SendBufferAlarms

    /// Bytes of the packets waiting here, without those in the kernel.
    public internal(set) var waitingByteCount = 0
    /// All bytes ever taken, without those that were lost with a connection.
    public internal(set) var handedOutByteCount = 0
    private var largestDelivery = 0

    /// RTMP's chunk headers and FLV's media header add about this much to each packet.
    static let overheadPerPacket = 14
    /// A keyframe that did not arrive is requested again after this long: encoders may skip the frame.
    private static let keyframeRetry = Duration.seconds(1)
    /// The most that one packet counts for, whatever the source's timestamps do.
    private static let longestSpan = Duration.seconds(1)
    /// A waiting keyframe up to this age is used for a jump to live video.
    static let recentTime = Duration.seconds(1)
    static let audioGrace = Duration.milliseconds(250)

    public init(_ policy: SendBufferPolicy = .target(.standard)) {
        self.policy = policy
        limits = policy.limits
        alarms = SendBufferAlarms(limits: limits)
    }

    // MARK: Contents

    /// Media waiting here or unsent in the kernel.
    public var duration: Duration { max(span(.video, with: unsent), span(.audio, with: unsent)) }

    /// Where `duration` lies between the thresholds.
    public var level: SendBufferLevel { alarms.level }

    /// Like `duration`, plus media sent but not acknowledged: how late the receiver is, without the route's delay.
    public var deliveryDelay: Duration {
        max(span(.video, with: unacknowledged), span(.audio, with: unacknowledged))
    }

    /// Frames waiting here.
    public var waitingFrameCount: Int { waiting.video.count { !$0.packet.isHeader } }

    /// Bytes waiting here or unsent in the kernel.
    public var byteCount: Int { waitingByteCount + unsent.byteCount }

    /// Bytes waiting here or handed out and not yet acknowledged.
    public var undeliveredByteCount: Int { waitingByteCount + unacknowledged.byteCount }

    /// All bytes ever added to the buffer.
    public private(set) var appendedByteCount = 0

    /// All bytes that ever reached the receiver. Never decreases.
    public var deliveredByteCount: Int { largestDelivery }

    func span(_ track: Track, with ledger: ByteLedger) -> Duration { waitingSpan[track] + ledger.span[track] }

    // MARK: Input

    /// Adds a packet from the encoder. The packets of each track must arrive in decode order.
    public mutating func append(_ packet: EncodedPacket, now: MediaTimestamp) -> [SendBufferEvent] {
        var events: [SendBufferEvent] = []
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

    // MARK: Output

    /// Whether `takeNext` would return a keyframe.
    public var isKeyframeNext: Bool {
        guard let video = waiting.video.first, video.packet.isKeyframe else { return false }
        return waiting.audio.first.map { video.order < $0.order } ?? true
    }

    /// Takes the next packet to be sent. For a target it counts as unsent until the kernel's queue has been measured.
    /// - Returns: `nil` if nothing waits or enough is in flight.
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

    /// Updates the state of the packets handed out. To be called after each write, and ten times a second.
    /// - Parameters:
    ///   - unsentBytes: bytes unsent in the transport and the kernel (SIOCOUTQNSD).
    ///   - unacknowledgedBytes: the same plus bytes sent but not acknowledged (SIOCOUTQ); `nil` if unknown.
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
        // While the buffer was full, a keyframe would have been dropped again; now there is room for one.
        if isAwaitingKeyframe, wasFull, !alarms.isFull { requestKeyframe(now, &events) }
        return events
    }
}

extension EncodedPacket {
    /// Its approximate size on the wire.
    var wireByteCount: Int { payload.count + SendBuffer.overheadPerPacket }

    func dropped(_ reason: DroppedItem.Reason) -> DroppedItem {
        DroppedItem(kind: kind, decodeTime: decodeTime, byteCount: payload.count, reason: reason)
    }
}
