import Bitstream
import Media

/// Converts packets and tags to chunked messages of one message stream, and their times to RTMP timestamps.
///
/// Time zero is the decode time of the first frame or audio packet. Headers never set it, because they may be much
/// older. Timestamps of each track never decrease, and times before zero are sent as zero. Timestamps wrap at 2^32 ms.
struct MediaChunker: Sendable {
    let streamID: UInt32
    let chunkSize: Int
    /// The RTMP timestamp of time zero.
    let firstTimestamp: UInt32
    private var base: MediaTimestamp?
    /// Milliseconds since `base` of the latest audio and video.
    private var latestAudio: Int64 = 0
    private var latestVideo: Int64 = 0

    init(streamID: UInt32, chunkSize: Int, firstTimestamp: UInt32) {
        self.streamID = streamID
        self.chunkSize = chunkSize
        self.firstTimestamp = firstTimestamp
    }

    /// Sets time zero. Otherwise the first packet sets it.
    mutating func mediaStarted(at time: MediaTimestamp) { base = time }

    mutating func chunk(_ packet: EncodedPacket) -> ChunkedMediaMessage {
        switch packet.kind {
        case .video(let isKeyframe):
            if base == nil { base = packet.decodeTime }
            latestVideo = max(latestVideo, milliseconds(of: packet.decodeTime))
            let composition = packet.compositionOffset == .zero ? 0 : packet.compositionOffset.compositionTime
            return videoMessage(
                packet, .video(isKeyframe: isKeyframe, isSequenceHeader: false, compositionTime: composition))
        case .audio:
            if base == nil { base = packet.decodeTime }
            latestAudio = max(latestAudio, milliseconds(of: packet.decodeTime))
            return audioMessage(packet, .audio(isSequenceHeader: false))
        case .videoHeader:
            latestVideo = max(latestVideo, milliseconds(of: packet.decodeTime))
            return videoMessage(packet, .video(isKeyframe: true, isSequenceHeader: true, compositionTime: 0))
        case .audioHeader:
            latestAudio = max(latestAudio, milliseconds(of: packet.decodeTime))
            return audioMessage(packet, .audio(isSequenceHeader: true))
        }
    }

    /// Sends a tag unchanged, with its own timestamp.
    func chunk(_ tag: FLVTag) -> ChunkedMediaMessage {
        switch tag.kind {
        case .audio: message(.audio, tag.timestamp, ChunkStreamID.audio, .none, tag.body)
        case .video: message(.video, tag.timestamp, ChunkStreamID.video, .none, tag.body)
        case .script:
            message(
                .dataAMF0, tag.timestamp, ChunkStreamID.data, tag.isMetadata ? .setDataFrame : .none, tag.body)
        }
    }

    func chunk(dataFrame: [UInt8], at time: MediaTimestamp) -> ChunkedMediaMessage {
        message(.dataAMF0, timestamp(milliseconds(of: time)), ChunkStreamID.data, .none, dataFrame[...])
    }

    private func milliseconds(of time: MediaTimestamp) -> Int64 {
        guard let base else { return 0 }
        // Round to the nearest millisecond; times before the base become zero.
        return max(0, (time.nanoseconds &- base.nanoseconds &+ 500_000) / 1_000_000)
    }

    private func timestamp(_ milliseconds: Int64) -> UInt32 {
        firstTimestamp &+ UInt32(truncatingIfNeeded: milliseconds)
    }

    private func videoMessage(_ packet: EncodedPacket, _ prefix: MessagePrefix) -> ChunkedMediaMessage {
        message(.video, timestamp(latestVideo), ChunkStreamID.video, prefix, packet.payload[...])
    }

    private func audioMessage(_ packet: EncodedPacket, _ prefix: MessagePrefix) -> ChunkedMediaMessage {
        message(.audio, timestamp(latestAudio), ChunkStreamID.audio, prefix, packet.payload[...])
    }

    private func message(
        _ type: MessageType, _ timestamp: UInt32, _ chunkStreamID: UInt8, _ prefix: MessagePrefix,
        _ payload: ArraySlice<UInt8>
    ) -> ChunkedMediaMessage {
        ChunkedMediaMessage(
            type: type, timestamp: timestamp, streamID: streamID, chunkStreamID: chunkStreamID, prefix: prefix,
            payload: payload, chunkSize: chunkSize)
    }
}

extension Duration {
    /// In milliseconds, limited to FLV's signed 24 bits.
    fileprivate var compositionTime: Int32 {
        let nanoseconds = wholeNanoseconds
        let milliseconds = nanoseconds / 1_000_000 + nanoseconds % 1_000_000 / 500_000
        return Int32(min(max(milliseconds, -0x80_0000), 0x7F_FFFF))
    }
}

extension FLVTag {
    /// Whether the tag's data is named `onMetaData`, so that the server must be asked to keep it.
    fileprivate var isMetadata: Bool {
        let name = Array("onMetaData".utf8)
        return body.count > 3 + name.count && body.starts(with: [AMF0Marker.string, 0, UInt8(name.count)] + name)
    }
}
