import Media

// Drops when the buffer overflows, when the controller jumps to live video, and when a connection is lost.
extension SendBuffer {
    /// Audio is dropped last: if both tracks grow at the same rate, video reaches its limit first and makes room.
    private var audioLimit: Duration { limits.maxDuration + (newestTime.video == nil ? .zero : Self.audioGrace) }
    private var isVideoOverfull: Bool { span(.video, with: unsent) > limits.maxDuration || isTooLarge }
    private var isAudioOverfull: Bool { span(.audio, with: unsent) > audioLimit || isTooLarge }
    private var isTooLarge: Bool { byteCount > SendBufferLimits.maxByteCount }

    mutating func makeRoom(_ now: MediaTimestamp, _ events: inout [SendBufferEvent]) {
        guard isVideoOverfull || isAudioOverfull else { return }
        // As long as the buffer stays full, each keyframe would be dropped like the last one, so requests are not
        // urgent.
        let isUrgent = !alarms.isFull || isRetryDue(now)
        alarms.overfilled(&events)
        var dropped: [DroppedItem] = []
        if policy == .preview {
            _ = dropVideo(upTo: nil, .bufferFull, into: &dropped)
            drop(.audio, .bufferFull, into: &dropped) { _, _ in true }
        } else {
            while isVideoOverfull, dropVideo(upTo: newestUsableKeyframe, .bufferFull, into: &dropped) {}
            drop(.audio, .bufferFull, into: &dropped) { buffer, _ in buffer.isAudioOverfull }
        }
        report(dropped, isUrgent: isUrgent, now, &events)
    }

    /// Drops the waiting frames so that the next one sent is a keyframe at most a second old: one that is already
    /// waiting, or a new one, which is requested. Audio stays.
    public mutating func discardWaitingVideo(now: MediaTimestamp) -> [SendBufferEvent] {
        var events: [SendBufferEvent] = []
        var dropped: [DroppedItem] = []
        _ = dropVideo(upTo: recentKeyframe, .discarded, into: &dropped)
        report(dropped, isUrgent: true, now, &events)
        return events
    }

    /// Restarts on a new connection: packets that waited for the old one are dropped, these sequence headers are sent
    /// first, and the first frame is a keyframe.
    public mutating func connectionOpened(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        var events: [SendBufferEvent] = []
        var dropped: [DroppedItem] = []
        drop(.video, .newConnection, into: &dropped) { _, _ in true }
        drop(.audio, .newConnection, into: &dropped) { _, _ in true }
        waiting = PerTrack(video: [], audio: [])
        waitingByteCount = 0
        newestTime = PerTrack(video: nil, audio: nil)
        // Bytes in the old connection are lost and count neither as waiting nor as delivered.
        unsent = ByteLedger()
        unacknowledged = ByteLedger()
        handedOutByteCount = deliveredByteCount
        for header in headers { enqueue(header) }
        isAwaitingKeyframe = true
        if !dropped.isEmpty { events.append(.droppedItems(dropped)) }
        requestKeyframe(now, &events)
        alarms.durationMeasured(duration, byteCount: byteCount, &events)
        return events
    }

    /// The newest waiting keyframe with frames to drop before it; `nil` if all frames must be dropped.
    private var newestUsableKeyframe: Int? {
        guard let newest = keyframes.last else { return nil }
        let first = waiting.video.first { !$0.packet.isHeader }
        return first?.order == newest ? nil : newest
    }

    /// The newest waiting keyframe, if it is recent enough. A new one would cost as much again.
    private var recentKeyframe: Int? {
        guard let newest = keyframes.last, let newestTime = newestTime.video,
            let item = waiting.video.last(where: { $0.order == newest }),
            newestTime - item.packet.decodeTime < Self.recentTime
        else { return nil }
        return newest
    }

    /// Drops the frames before the keyframe with this order, or all frames.
    /// - Returns: whether any frame was dropped.
    private mutating func dropVideo(
        upTo keyframe: Int?, _ reason: DroppedItem.Reason, into dropped: inout [DroppedItem]
    ) -> Bool {
        let before = dropped.count
        drop(.video, reason, into: &dropped) { _, item in item.order < keyframe ?? .max }
        guard dropped.count > before else { return false }
        if keyframe == nil { isAwaitingKeyframe = true }
        return true
    }

    /// Drops the track's packets from the front as long as `shouldGo` returns true. Headers among them stay, at the
    /// front.
    private mutating func drop(
        _ track: Track, _ reason: DroppedItem.Reason, into dropped: inout [DroppedItem],
        while shouldGo: (borrowing Self, Item) -> Bool
    ) {
        var kept: [Item] = []
        while let first = waiting[track].first, shouldGo(self, first) {
            let item = removeFirst(track)
            if item.packet.isHeader { kept.append(item) } else { dropped.append(item.packet.dropped(reason)) }
        }
        for item in kept.reversed() {
            waiting[track].prepend(item)
            waitingByteCount += item.packet.wireByteCount
        }
    }

    private mutating func report(
        _ dropped: [DroppedItem], isUrgent: Bool, _ now: MediaTimestamp, _ events: inout [SendBufferEvent]
    ) {
        if !dropped.isEmpty { events.append(.droppedItems(dropped)) }
        if isUrgent, isAwaitingKeyframe, dropped.contains(where: { $0.kind != .audio }) {
            requestKeyframe(now, &events)
        }
        alarms.durationMeasured(duration, byteCount: byteCount, &events)
    }
}
