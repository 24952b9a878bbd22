import Media

/// The `moov` box of an MP4 or QuickTime file (ISO 14496-12): where the samples of H.264 and AAC are in the file, and
/// when each is shown.
public struct MP4Movie: Sendable {
    static let structure = "MP4 file"
    /// Size limit of a `moov` box: a day of video and audio needs less.
    public static let largestBox = 32 << 20

    /// The first H.264 track, if any.
    public let video: MP4Track?
    /// The first AAC track, if any.
    public let audio: MP4Track?
    /// The format of a video track, such as "hvc1", if no track is H.264.
    public let otherVideo: String?
    /// The format of an audio track, if no track is AAC.
    public let otherAudio: String?
    /// H.264 tracks beside the first one.
    public let furtherVideoCount: Int
    /// AAC tracks beside the first one.
    public let furtherAudioCount: Int
    /// A fragmented file ends inside a fragment, which is left out.
    public let isCutOff: Bool

    /// - Parameters:
    ///   - moov: the box's content.
    ///   - fileByteCount: size of the file, which must contain all samples.
    /// - Throws: `truncated` also if the file ends before its last sample; `unsupported` for a fragmented file.
    public init(parsing moov: [UInt8], fileByteCount: Int) throws(BitstreamError) {
        try self.init(parsing: moov, fragments: nil, fileByteCount: fileByteCount)
    }

    /// - Parameter fragments: all of a fragmented file; `nil` for a plain one.
    init(parsing moov: [UInt8], fragments: MP4FragmentedSamples?, fileByteCount: Int) throws(BitstreamError) {
        let boxes = MP4Boxes(try MP4Box.all(in: moov[...]))
        guard boxes["mvex"] == nil || fragments != nil else {
            throw .unsupported(structure: Self.structure, feature: "fragments")
        }
        var header = try boxes.required("mvhd").reader
        let version = try header.versionAndFlags()
        try header.skip(version == 1 ? 16 : 8)
        let timescale = try Self.timescale(&header)
        var found: [String: MP4Track] = [:]
        var others: [String: String] = [:]
        var further: [String: Int] = [:]
        for box in boxes.all("trak") {
            let children = try box.children
            var handler = try children.required("mdia").children.required("hdlr").reader
            try handler.skip(8)
            let kind = String(decoding: try handler.slice(4), as: UTF8.self)
            guard kind == "vide" || kind == "soun" else { continue }
            switch try MP4SampleDescription(of: children) {
            case .other(let name): others[kind] = others[kind] ?? name
            case _ where found[kind] != nil: further[kind, default: 0] += 1
            case let description:
                let samples = try fragments?.samples(of: children, fileByteCount: fileByteCount)
                found[kind] = try MP4Track(
                    children, description, samples, movieTimescale: timescale, fileByteCount: fileByteCount)
            }
        }
        furtherVideoCount = further["vide"] ?? 0
        furtherAudioCount = further["soun"] ?? 0
        isCutOff = fragments?.isCutOff ?? false
        video = found["vide"]
        audio = found["soun"]
        otherVideo = video == nil ? others["vide"] : nil
        otherAudio = audio == nil ? others["soun"] : nil
    }

    /// The duration from the start to the end of the longer track.
    public var duration: Duration { max(video?.end ?? .zero, audio?.end ?? .zero) }

    static func timescale(_ reader: inout ByteReader) throws(BitstreamError) -> Int {
        let timescale = Int(try reader.bigEndian32())
        guard timescale > 0 else { throw .invalid(structure: structure, field: "timescale", value: 0) }
        return timescale
    }
}

/// One track: how its samples are decoded, and when.
public struct MP4Track: Sendable {
    public let description: MP4SampleDescription
    /// Units per second of the samples' times.
    public let timescale: Int
    public let samples: MP4SampleTable
    /// When the first visible sample is shown, relative to the movie's start.
    public let start: Duration
    /// When the track ends, relative to the movie's start.
    public let end: Duration
    /// Time of the first visible sample, in `timescale`; earlier samples are only decoded.
    public let firstTime: Int64
    /// The rotation that shows frames upright.
    public let rotation: FrameRotation

    /// - Parameter samples: those of a fragmented file; `nil` to read the track's own tables.
    init(
        _ boxes: MP4Boxes, _ description: MP4SampleDescription, _ samples: MP4SampleTable?, movieTimescale: Int,
        fileByteCount: Int
    ) throws(BitstreamError) {
        self.description = description
        let media = try boxes.required("mdia").children
        var header = try media.required("mdhd").reader
        try header.skip(try header.versionAndFlags() == 1 ? 16 : 8)
        timescale = try MP4Movie.timescale(&header)
        self.samples =
            if let samples { samples } else {
                try MP4SampleTable(
                    try media.required("minf").children.required("stbl").children, fileByteCount: fileByteCount)
            }
        let edit = try MP4Edit(boxes["edts"]?.children["elst"])
        firstTime = edit.firstTime
        start = .ofUnits(edit.delay, perSecond: movieTimescale)
        let rest = Duration.ofUnits(max(0, self.samples.end - firstTime), perSecond: timescale)
        let wanted = edit.duration.map { Duration.ofUnits($0, perSecond: movieTimescale) }
        end = start + min(rest, wanted ?? rest)
        guard end <= Self.longest else {
            throw .invalid(
                structure: MP4Movie.structure, field: "length of a track in seconds", value: Int(end.inSeconds))
        }
        rotation = try Self.rotation(boxes.required("tkhd"))
    }

    static let longest = Duration.seconds(7 * 86_400)

    /// When a sample is shown, relative to the movie's start; before `start` for samples that are not shown.
    public func time(of sample: MP4Sample) -> Duration {
        start + .ofUnits(sample.time - firstTime, perSecond: timescale)
    }

    /// When a sample is decoded, relative to the movie's start.
    public func decodeTime(of sample: MP4Sample) -> Duration {
        start + .ofUnits(sample.decodeTime - firstTime, perSecond: timescale)
    }

    /// How much later than decoded a sample is shown.
    public func compositionOffset(of sample: MP4Sample) -> Duration {
        .ofUnits(sample.time - sample.decodeTime, perSecond: timescale)
    }

    /// Samples per second, on average.
    public var sampleRate: Double {
        samples.duration > 0 ? Double(samples.count) * Double(timescale) / Double(samples.duration) : 0
    }

    /// From the matrix in the track's header (section 8.3.2): quarter turns with or without mirroring. Frames with any
    /// other matrix are not rotated.
    private static func rotation(_ box: MP4Box) throws(BitstreamError) -> FrameRotation {
        var reader = box.reader
        try reader.skip(try reader.versionAndFlags() == 1 ? 32 : 20)
        try reader.skip(16)
        // a and b; then u, which has another scale; then c and d.
        let (a, b) = (try entry(&reader), try entry(&reader))
        try reader.skip(4)
        let matrix = [a, b, try entry(&reader), try entry(&reader)]
        let largest = matrix.map(abs).max() ?? 0
        // A rounded sine of 180 degrees is not always 0.
        let signs = matrix.map { 16 * abs($0) < largest ? 0 : $0.signum() }
        return switch (signs[0], signs[1], signs[2], signs[3]) {
        case (0, 1, -1, 0): FrameRotation(.clockwise90)
        case (-1, 0, 0, -1): FrameRotation(.half)
        case (0, -1, 1, 0): FrameRotation(.clockwise270)
        case (-1, 0, 0, 1): FrameRotation(isMirrored: true)
        case (0, 1, 1, 0): FrameRotation(.clockwise90, isMirrored: true)
        case (1, 0, 0, -1): FrameRotation(.half, isMirrored: true)
        case (0, -1, -1, 0): FrameRotation(.clockwise270, isMirrored: true)
        default: FrameRotation()
        }
    }

    private static func entry(_ reader: inout ByteReader) throws(BitstreamError) -> Int {
        Int(Int32(bitPattern: try reader.bigEndian32()))
    }
}

/// An edit list (section 8.6.6), if it consists of a delay and cuts at the start and the end.
private struct MP4Edit {
    /// In the movie's timescale.
    var delay: Int64 = 0
    /// In the movie's timescale; `nil` up to the track's end.
    var duration: Int64?
    /// In the track's timescale.
    var firstTime: Int64 = 0

    init(_ box: MP4Box?) throws(BitstreamError) {
        guard var reader = box?.reader else { return }
        let version = try reader.versionAndFlags()
        var isFound = false
        for _ in 0..<(try reader.bigEndian32()) {
            let length = Int64(clamping: try reader.number(version: version))
            let time: Int64 =
                version == 1
                ? Int64(bitPattern: try reader.bigEndian64()) : Int64(Int32(bitPattern: try reader.bigEndian32()))
            let rate = try reader.bigEndian32()
            guard time >= 0 else {
                // An empty edit.
                let (sum, isTooLong) = delay.addingReportingOverflow(length)
                if isTooLong || isFound { throw Self.isCut }
                delay = sum
                continue
            }
            guard !isFound, rate == 0x1_0000 else { throw Self.isCut }
            guard time <= 1 << 60 else {
                throw .invalid(structure: MP4Movie.structure, field: "start of an edit", value: Int(time))
            }
            isFound = true
            firstTime = time
            duration = length == 0 ? nil : length
        }
    }

    private static var isCut: BitstreamError {
        .unsupported(structure: MP4Movie.structure, feature: "an edit list with several parts or another speed")
    }
}

extension Duration {
    /// Rounded down to a nanosecond, limited to 292 years.
    static func ofUnits(_ count: Int64, perSecond scale: Int) -> Duration {
        let (seconds, rest) = count.quotientAndRemainder(dividingBy: Int64(scale))
        return .seconds(min(max(seconds, -9_000_000_000), 9_000_000_000))
            + .nanoseconds(rest * 1_000_000_000 / Int64(scale))
    }
}
