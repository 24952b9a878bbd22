import Media

/// The length of a finished recording, from a few of its bytes: a folder has thousands of them.
public struct MP4RecordingSummary: Hashable, Sendable {
    /// From the file's zero to the end of the longer track.
    public let duration: Duration
    /// UNIX seconds; `nil` if the clock was not set.
    public let creation: Int64?

    /// - Parameter read: returns these bytes, all of which are in the file.
    /// - Returns: `nil` unless `MP4RecordingWriter` has written the file to its end.
    public init?<Failure: Error>(
        byteCount: Int, read: (_ offset: Int, _ count: Int) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        let place = MP4RecordingWriter.placeholderOffset
        let headByteCount = place + MP4RecordingWriter.placeholderByteCount
        guard byteCount > headByteCount else { return nil }
        let head = try read(0, headByteCount)
        guard head.starts(with: MP4RecordingHeader.fileType),
            let media = try? MP4BoxHeader(head[place...]), media.type == "mdat", let count = media.contentByteCount,
            count < byteCount - headByteCount
        else { return nil }
        let index = headByteCount + count
        let start = try read(index, min(Self.movieHeaderByteCount, byteCount - index))
        guard let moov = try? MP4BoxHeader(parsing: start), moov.type == "moov",
            moov.contentByteCount == byteCount - index - moov.headerByteCount,
            let found = try? Self.times(start[moov.headerByteCount...])
        else { return nil }
        self = found
    }

    /// The header of `moov`, and the start of `mvhd`.
    private static let movieHeaderByteCount = 64

    private init(duration: Duration, creation: Int64?) {
        self.duration = duration
        self.creation = creation
    }

    private static func times(_ bytes: ArraySlice<UInt8>) throws(BitstreamError) -> MP4RecordingSummary {
        let header = try MP4BoxHeader(bytes)
        guard header.type == "mvhd" else {
            throw .unsupported(structure: MP4Movie.structure, feature: "a movie without mvhd")
        }
        var reader = ByteReader(bytes.dropFirst(header.headerByteCount), reading: MP4Movie.structure)
        let version = try reader.versionAndFlags()
        let creation = Int64(clamping: try reader.number(version: version))
        _ = try reader.number(version: version)
        let timescale = try MP4Movie.timescale(&reader)
        let duration = Int64(clamping: try reader.number(version: version))
        return MP4RecordingSummary(
            duration: .ofUnits(duration, perSecond: timescale),
            creation: creation == 0 ? nil : creation - MP4RecordingHeader.epochOfMP4)
    }
}
