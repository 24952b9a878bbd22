import Media

// Conversion between encoded packets and FLV tags. A publisher that sends header and payload separately uses
// `flvHeader` and leaves the payload in place; a recorder uses a whole `FLVTag`.

extension EncodedPacket {
    public var flvKind: FLVTag.Kind { isVideo ? .video : .audio }

    /// The media header that precedes `payload` in a tag or message: 5 bytes for video, 2 for audio.
    public var flvHeader: [UInt8] {
        switch kind {
        case .videoHeader: FLVVideoHeader(frameType: .keyframe, packetType: .sequenceHeader).bytes
        case .video(let isKeyframe):
            FLVVideoHeader(
                frameType: isKeyframe ? .keyframe : .interFrame, packetType: .nalUnits,
                compositionTime: Int32(clamping: compositionOffset.roundedMilliseconds)
            ).bytes
        case .audioHeader: FLVAudioHeader(packetType: .sequenceHeader).bytes
        case .audio: FLVAudioHeader(packetType: .raw).bytes
        }
    }

    /// The decode time in milliseconds since `base`, rounded, wrapping at 2^32; 0 for times before `base`.
    public func flvTimestamp(base: MediaTimestamp) -> UInt32 {
        UInt32(truncatingIfNeeded: max(0, (decodeTime - base).roundedMilliseconds))
    }
}

extension Duration {
    /// To the nearest millisecond.
    fileprivate var roundedMilliseconds: Int64 {
        let nanoseconds = wholeNanoseconds
        return nanoseconds / 1_000_000 + nanoseconds % 1_000_000 / 500_000
    }
}

extension FLVTag {
    /// - Parameter base: the time that becomes timestamp 0.
    public init(_ packet: EncodedPacket, base: MediaTimestamp) {
        self.init(
            kind: packet.flvKind, timestamp: packet.flvTimestamp(base: base), body: packet.flvHeader + packet.payload)
    }

    /// The tag's content as a packet with times relative to `base`; `nil` for script data, codecs other than AVC and
    /// AAC, and markers without content.
    /// - Throws: `BitstreamError` if the media header is damaged or enhanced.
    public func packet(base: MediaTimestamp) throws(BitstreamError) -> EncodedPacket? {
        let time = base + .milliseconds(Int64(timestamp))
        switch kind {
        case .script: return nil
        case .audio:
            let header = try FLVAudioHeader(parsing: body)
            guard header.format == .aac else { return nil }
            return EncodedPacket(
                kind: header.packetType == .sequenceHeader ? .audioHeader : .audio, decodeTime: time,
                payload: Array(body.dropFirst(header.byteCount)))
        case .video:
            let header = try FLVVideoHeader(parsing: body)
            guard header.codec == .avc, header.frameType != .command, header.packetType != .endOfSequence else {
                return nil
            }
            return EncodedPacket(
                kind: header.packetType == .sequenceHeader
                    ? .videoHeader : .video(isKeyframe: header.frameType == .keyframe),
                decodeTime: time, compositionOffset: .milliseconds(Int64(header.compositionTime)),
                payload: Array(body.dropFirst(header.byteCount)))
        }
    }
}
