import Media

/// Counts what a publisher has sent, to show whether anything is missing.
public struct MediaTally: Hashable, Sendable {
    /// The counts of one track.
    public struct Track: Hashable, Sendable {
        public private(set) var count = 0
        public private(set) var byteCount = 0
        public private(set) var firstTimestamp: UInt32?
        public private(set) var lastTimestamp: UInt32 = 0
        /// The longest interval between consecutive items, in milliseconds.
        public private(set) var largestGap = 0
        /// Timestamps that did not increase.
        public private(set) var disorderCount = 0

        mutating func add(timestamp: UInt32, byteCount: Int) {
            if firstTimestamp == nil {
                firstTimestamp = timestamp
            } else {
                // Serial-number arithmetic: timestamps wrap at 2^32.
                let step = Int(Int32(bitPattern: timestamp &- lastTimestamp))
                if step <= 0 { disorderCount += 1 }
                largestGap = max(largestGap, step)
            }
            lastTimestamp = timestamp
            count += 1
            self.byteCount += byteCount
        }

        /// From the first item's timestamp to the last one's.
        public var span: Duration {
            .milliseconds(firstTimestamp.map { Int64(lastTimestamp &- $0) } ?? 0)
        }
    }

    public private(set) var video = Track()
    public private(set) var audio = Track()
    public private(set) var keyframeCount = 0
    private var audioConfig: AudioSpecificConfig?

    public init() {}

    /// - Returns: whether it is a frame or an audio packet, rather than a header.
    @discardableResult
    public mutating func add(_ tag: FLVTag) -> Bool {
        switch tag.kind {
        case .video:
            // A sequence header or end-of-sequence marker, which has 5 bytes, is not a frame. The bytes are checked
            // directly because this runs for every tag.
            let byteCount = tag.bodyByteCount
            guard byteCount > 5, let first = tag.firstByte else { return false }
            let packetType = tag.secondByte
            if first & 0x8F == FLVVideoHeader.Codec.avc.rawValue, (1...4).contains(first >> 4) {
                if packetType == FLVVideoHeader.PacketType.sequenceHeader.rawValue { return false }
                let isFrame = packetType == FLVVideoHeader.PacketType.nalUnits.rawValue
                if isFrame, first >> 4 == FLVVideoHeader.FrameType.keyframe.rawValue { keyframeCount += 1 }
            }
            video.add(timestamp: tag.timestamp, byteCount: byteCount)
            return true
        case .audio:
            let byteCount = tag.bodyByteCount
            if byteCount >= 2, let first = tag.firstByte, first >> 4 == FLVAudioHeader.Format.aac.rawValue,
                tag.secondByte == FLVAudioHeader.PacketType.sequenceHeader.rawValue
            {
                audioConfig = try? AudioSpecificConfig(parsing: Array(tag.body.dropFirst(2)))
            } else {
                audio.add(timestamp: tag.timestamp, byteCount: byteCount)
                return true
            }
        case .script: break
        }
        return false
    }

    /// Each AAC unit holds 1024 samples per channel.
    public var audioDuration: Duration {
        guard let config = audioConfig, config.sampleRate > 0 else { return audio.span }
        // Whole seconds are separate: in nanoseconds, two days of samples would overflow 64 bits.
        let (seconds, samples) = (audio.count * 1024).quotientAndRemainder(dividingBy: config.sampleRate)
        return .seconds(seconds) + .nanoseconds(samples * 1_000_000_000 / config.sampleRate)
    }

    /// The average over the track's duration, which includes one item's duration for the last item.
    public func kilobitsPerSecond(_ track: Track) -> Double {
        guard track.count > 1 else { return 0 }
        let seconds = track.span.inSeconds * Double(track.count) / Double(track.count - 1)
        return seconds > 0 ? Double(track.byteCount) * 8 / seconds / 1000 : 0
    }
}
