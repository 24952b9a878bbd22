import Bitstream
import DevicePorts
import Media

/// AAC-LC by fdk-aac, in blocks of 1024 frames.
///
/// A packet's time is the capture time of its audio: the encoder's delay is subtracted, so that audio and video with equal
/// times belong together. Packets that contain only the delay's silence before the first sample are dropped.
public final class AACEncoder {
    public static let sampleRates = [11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
    /// Frames per packet.
    public static let framesPerPacket = 1024

    public let format: AudioFormat
    /// The decoder configuration, sent as `audioHeader` before the first packet.
    public let header: AudioSpecificConfig
    public private(set) var bitrate: Bitrate
    /// Frames of silence inserted for gaps in the input.
    public private(set) var insertedFrameCount = 0
    /// Frames dropped because the input ran ahead of the clock.
    public private(set) var droppedFrameCount = 0

    private let session: FDKEncoder
    private var timeline: AudioTimeline
    private var packetCount: Int64 = 0
    private var hasSentHeader = false

    /// - Parameters:
    ///   - usesAfterburner: 1 dB less noise for about twice the work.
    ///   - gapThreshold: how much later than expected a block may be before the difference counts as lost audio instead of
    ///     jitter.
    public init(
        format: AudioFormat, bitrate: Bitrate, usesAfterburner: Bool = false,
        gapThreshold: Duration = .milliseconds(100)
    ) throws(AudioEncodingError) {
        guard Self.sampleRates.contains(format.sampleRate), (1...2).contains(format.channelCount) else {
            throw .unsupportedFormat(format)
        }
        self.format = format
        self.bitrate = bitrate
        session = try FDKEncoder(format: format, bitrate: bitrate, usesAfterburner: usesAfterburner)
        do {
            header = try AudioSpecificConfig(parsing: session.configuration)
        } catch {
            throw .libraryFailed(call: "aacEncInfo", status: 0)
        }
        timeline = AudioTimeline(sampleRate: format.sampleRate, gapThreshold: gapThreshold)
    }

    /// The header as a packet, for a stream that starts with its headers. `encode` then omits it.
    public func takeHeader(at time: MediaTimestamp) -> EncodedPacket {
        hasSentHeader = true
        return EncodedPacket(kind: .audioHeader, decodeTime: time, payload: header.bytes)
    }

    /// Encodes a block of any length. Samples that do not fill a packet wait for the next block.
    /// - Returns: the finished packets, with an `audioHeader` before the first one.
    public func encode(_ block: AudioBlock) throws(AudioEncodingError) -> [EncodedPacket] {
        let channels = format.channelCount
        guard block.samples.count % channels == 0 else {
            throw .brokenBlock(sampleCount: block.samples.count, channelCount: channels)
        }
        guard !block.samples.isEmpty else { return [] }
        var payloads: [[UInt8]] = []
        switch timeline.blockArrived(at: block.captureTime, frameCount: block.samples.count / channels) {
        case nil:
            try session.encode(block.samples[...]) { payloads.append($0) }
        case .insertSilence(let count):
            insertedFrameCount += count
            try session.encode([Int16](repeating: 0, count: count * channels)[...]) { payloads.append($0) }
            try session.encode(block.samples[...]) { payloads.append($0) }
        case .drop(let count):
            droppedFrameCount += count
            try session.encode(block.samples.dropFirst(count * channels)) { payloads.append($0) }
        }
        return packets(payloads)
    }

    /// Ends the stream.
    /// - Returns: the encoder's remaining packets.
    public func finish() throws(AudioEncodingError) -> [EncodedPacket] {
        var payloads: [[UInt8]] = []
        try session.flush { payloads.append($0) }
        return packets(payloads)
    }

    /// Changes the target bit rate while running. The header stays the same.
    public func setBitrate(_ bitrate: Bitrate) throws(AudioEncodingError) {
        try session.setBitrate(bitrate)
        self.bitrate = bitrate
    }

    private func packets(_ payloads: [[UInt8]]) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        for payload in payloads {
            let firstFrame = packetCount * Int64(Self.framesPerPacket) - Int64(session.delay)
            packetCount += 1
            guard firstFrame > -Int64(Self.framesPerPacket), let time = timeline.time(ofFrame: firstFrame) else {
                continue
            }
            if !hasSentHeader {
                packets.append(takeHeader(at: time))
            }
            packets.append(EncodedPacket(kind: .audio, decodeTime: time, payload: payload))
        }
        return packets
    }
}
