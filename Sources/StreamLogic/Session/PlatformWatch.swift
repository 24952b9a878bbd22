import Bitstream
import Media
import Settings

/// Checks media that is already encoded for properties that the service would refuse.
public struct PlatformWatch {
    /// After this many milliseconds of media without audio, a warning is given.
    private static let audioTimeout = 5000

    private let platform: PlatformProfile
    private var size: FrameSize?
    private var lastKeyframe: UInt32?
    private var firstTimestamp: UInt32?
    private var hasAudio = false
    private var hasReportedAudio = false
    private var hasReportedKeyframes = false

    public init(_ platform: PlatformProfile) { self.platform = platform }

    /// - Returns: a warning about what the service does not like, once for each kind.
    /// - Throws: if the service would not continue from here.
    public mutating func tagRead(_ tag: FLVTag) throws(StreamFailure) -> String? {
        if firstTimestamp == nil { firstTimestamp = tag.timestamp }
        if tag.kind == .audio { hasAudio = true }
        // A keyframe of H.264 or its sequence header; nearly all tags are neither.
        if tag.kind == .video, tag.firstByte == 0x17, let warning = try frameRead(tag) { return warning }
        guard platform.requiresAudio, !hasAudio, !hasReportedAudio,
            Self.distance(firstTimestamp, tag.timestamp) > Self.audioTimeout
        else { return nil }
        hasReportedAudio = true
        return "\(platform.name) does not show a stream without audio, and the file has none"
    }

    private mutating func frameRead(_ tag: FLVTag) throws(StreamFailure) -> String? {
        guard let header = try? FLVVideoHeader(parsing: tag.body), header.codec == .avc else { return nil }
        if header.packetType == .sequenceHeader {
            try sequenceHeaderRead(tag)
            return nil
        }
        guard header.frameType == .keyframe else { return nil }
        let distance = Self.distance(lastKeyframe, tag.timestamp)
        lastKeyframe = tag.timestamp
        // One frame duration more does not count as another interval.
        guard !hasReportedKeyframes, distance > platform.longestKeyframeInterval.milliseconds + 100 else { return nil }
        hasReportedKeyframes = true
        return "\(platform.name) needs a keyframe every \(fixed(platform.keyframeInterval.inSeconds, decimals: 0)) s; "
            + "the file's are \(fixed(Double(distance) / 1000, decimals: 1)) s apart"
    }

    private mutating func sequenceHeaderRead(_ tag: FLVTag) throws(StreamFailure) {
        guard let record = try? AVCDecoderConfigurationRecord(parsing: Array(tag.body.dropFirst(5))),
            let unit = record.sequenceParameterSets.first,
            let found = try? SequenceParameterSet(nalUnit: unit).size
        else { return }
        defer { size = found }
        guard let size, size != found, !platform.allowsSizeChange else { return }
        throw StreamFailure(
            .media, code: .unsupportedResolution,
            "the frame size changes from \(size) to \(found) after "
                + "\(fixed(Double(Self.distance(firstTimestamp, tag.timestamp)) / 1000, decimals: 1)) s, which "
                + "\(platform.name) does not accept within a stream; publish the parts one after another")
    }

    /// In milliseconds; timestamps wrap at 2^32.
    private static func distance(_ from: UInt32?, _ to: UInt32) -> Int {
        from.map { Int(Int32(bitPattern: to &- $0)) } ?? 0
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(inSeconds * 1000) }
}
