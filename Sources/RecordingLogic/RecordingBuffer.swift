import Media

/// Packets on their way to the disk, limited in bytes. If the disk is too slow, whole GOPs are dropped and counted, and the
/// recording continues in a new file at a keyframe. The stream never waits.
public struct RecordingBuffer: Sendable {
    public enum Item: Sendable {
        case packet(EncodedPacket)
        /// The next packets need a new file: a recording or an epoch starts.
        case newFile
        /// Packets are missing from here on. The file ends now: an unfinished GOP would fill the buffer until the next one.
        case gap
    }

    /// Packets that are in no file.
    public struct Loss: Hashable, Sendable {
        /// GOPs of which anything is missing.
        public var gopCount = 0
        public var frameCount = 0
        public var audioPacketCount = 0
        public var byteCount = 0
        /// Capture times of the first and the last missing packet.
        public var start: MediaTimestamp?
        public var end: MediaTimestamp?

        public init() {}

        fileprivate mutating func add(_ packet: EncodedPacket) {
            byteCount += packet.payload.count
            start = start ?? packet.decodeTime
            end = packet.decodeTime
            guard packet.isVideo else {
                audioPacketCount += 1
                return
            }
            frameCount += 1
            if packet.kind == .video(isKeyframe: true) || gopCount == 0 { gopCount += 1 }
        }
    }

    public enum Event: Hashable, Sendable {
        /// The disk is too slow: the buffer is full.
        case droppingStarted
        /// Packets are recorded again.
        case resumed(Loss)
        /// Nothing is recorded before the encoder's next keyframe.
        case keyframeNeeded
    }

    /// A record of a packet costs about this much beside its payload.
    private static let overhead = 64
    /// A keyframe that did not come is requested again after this long.
    private static let keyframeRetry = Duration.seconds(1)

    private let limit: Int
    private let hasVideo: Bool
    private var items: [Item] = []
    private var waitingByteCount = 0
    private var heldByteCount = 0
    private var videoHeader: EncodedPacket?
    private var audioHeader: EncodedPacket?
    private var isAwaitingKeyframe = true
    private var keyframeRequest: MediaTimestamp?
    /// Since the buffer was full.
    private var loss: Loss?
    public private(set) var isOpen = false

    /// - Parameter hasVideo: whether recordings start at keyframes, rather than at any audio.
    public init(limit: Int, hasVideo: Bool) {
        self.limit = limit
        self.hasVideo = hasVideo
    }

    /// Bytes waiting here, or taken and not yet in a file.
    public var byteCount: Int { waitingByteCount + heldByteCount }

    public var isDropping: Bool { loss != nil }
    public var isEmpty: Bool { items.isEmpty }

    /// From now on, packets are recorded, starting with a keyframe.
    public mutating func open() {
        guard !isOpen else { return }
        isOpen = true
        restart()
    }

    /// The waiting packets are void. Only headers are kept, for the next opening.
    /// - Returns: what was dropped up to here, if the buffer was full.
    public mutating func close() -> Loss? {
        isOpen = false
        items.removeAll()
        waitingByteCount = 0
        defer { loss = nil }
        return loss
    }

    private mutating func restart() {
        isAwaitingKeyframe = true
        keyframeRequest = nil
        items.append(.newFile)
        for header in [videoHeader, audioHeader] { if let header { enqueue(header) } }
    }

    /// - Returns: what happened, besides that the packet waits.
    public mutating func append(_ packet: EncodedPacket, now: MediaTimestamp) -> [Event] {
        if packet.isHeader {
            if packet.isVideo { videoHeader = packet } else { audioHeader = packet }
            if isOpen, loss == nil { enqueue(packet) }
            return []
        }
        guard isOpen else { return [] }
        let isStart = hasVideo ? packet.kind == .video(isKeyframe: true) : true
        if let lost = loss {
            // With hysteresis, so that a file is more than a GOP.
            guard isStart, byteCount + packet.payload.count <= limit / 2 else { return drop(packet) }
            loss = nil
            restart()
            isAwaitingKeyframe = false
            enqueue(packet)
            return [.resumed(lost)]
        }
        if isAwaitingKeyframe {
            guard isStart else { return keyframeMissing(packet, now) }
            isAwaitingKeyframe = false
        }
        guard byteCount + packet.payload.count + Self.overhead <= limit else {
            loss = Loss()
            items.append(.gap)
            return drop(packet) + [.droppingStarted]
        }
        enqueue(packet)
        return []
    }

    private mutating func keyframeMissing(_ packet: EncodedPacket, _ now: MediaTimestamp) -> [Event] {
        guard packet.isVideo, keyframeRequest.map({ now - $0 >= Self.keyframeRetry }) ?? true else { return [] }
        keyframeRequest = now
        return [.keyframeNeeded]
    }

    private mutating func drop(_ packet: EncodedPacket) -> [Event] {
        loss?.add(packet)
        return []
    }

    private mutating func enqueue(_ packet: EncodedPacket) {
        items.append(.packet(packet))
        waitingByteCount += packet.payload.count + Self.overhead
    }

    /// The next packets belong to another epoch.
    public mutating func epochStarted() {
        videoHeader = nil
        guard isOpen, loss == nil else { return }
        isAwaitingKeyframe = true
        items.append(.newFile)
    }

    /// The stream has ended, and with it the file. Another one may follow at any time.
    public mutating func streamEnded() {
        (videoHeader, audioHeader) = (nil, nil)
        guard isOpen, loss == nil else { return }
        isAwaitingKeyframe = true
        items.append(.gap)
    }

    /// Takes everything that waits. It counts until `settled`.
    public mutating func takeAll() -> [Item] {
        defer {
            heldByteCount += waitingByteCount
            waitingByteCount = 0
            items.removeAll()
        }
        return items
    }

    /// - Parameter byteCount: bytes that were taken and are not in a file yet.
    public mutating func settled(heldByteCount byteCount: Int) { heldByteCount = byteCount }
}
