import Bitstream
import Media
import Settings

/// Watches media that is already encoded for what the service would refuse.
public struct PlatformWatch {
    /// How much media may pass without sound before it is missed.
    private static let soundLimit = 5000

    private let platform: PlatformProfile
    private var size: PictureSize?
    private var lastKeyFrame: UInt32?
    private var firstTimestamp: UInt32?
    private var hasSound = false
    private var hasToldOfSound = false
    private var hasToldOfKeyFrames = false

    public init(_ platform: PlatformProfile) { self.platform = platform }

    /// - Returns: what the service will not like, once for each kind.
    /// - Throws: when the service does not go on from here.
    public mutating func tagRead(_ tag: FLVTag) throws(StreamFailure) -> String? {
        if firstTimestamp == nil { firstTimestamp = tag.timestamp }
        if tag.kind == .audio { hasSound = true }
        // A key frame of H.264, or its sequence header; nearly all tags are neither.
        if tag.kind == .video, tag.body.first == 0x17, let warning = try pictureRead(tag) { return warning }
        guard platform.requiresAudio, !hasSound, !hasToldOfSound,
            Self.distance(firstTimestamp, tag.timestamp) > Self.soundLimit
        else { return nil }
        hasToldOfSound = true
        return "\(platform.name) shows no stream without sound, and the file has none"
    }

    private mutating func pictureRead(_ tag: FLVTag) throws(StreamFailure) -> String? {
        guard let header = try? FLVVideoHeader(parsing: tag.body), header.codec == .avc else { return nil }
        if header.packetType == .sequenceHeader {
            try sequenceHeaderRead(tag)
            return nil
        }
        guard header.frameType == .keyFrame else { return nil }
        let distance = Self.distance(lastKeyFrame, tag.timestamp)
        lastKeyFrame = tag.timestamp
        // A picture's duration more is no other interval.
        guard !hasToldOfKeyFrames, distance > platform.longestKeyFrameInterval.milliseconds + 100 else { return nil }
        hasToldOfKeyFrames = true
        return "\(platform.name) wants a key frame every \(fixed(platform.keyFrameInterval.inSeconds, decimals: 0)) s; "
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
            "the picture changes from \(size) to \(found) after "
                + "\(fixed(Double(Self.distance(firstTimestamp, tag.timestamp)) / 1000, decimals: 1)) s, which "
                + "\(platform.name) does not take within a stream; publish the parts one after the other")
    }

    /// Milliseconds; timestamps wrap at 2^32.
    private static func distance(_ from: UInt32?, _ to: UInt32) -> Int {
        from.map { Int(Int32(bitPattern: to &- $0)) } ?? 0
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(inSeconds * 1000) }
}
