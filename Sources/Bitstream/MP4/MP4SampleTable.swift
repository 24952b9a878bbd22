/// One sample of a track: a frame of video, or a packet of audio.
public struct MP4Sample: Hashable, Sendable {
    /// Offset in the file, in bytes.
    public let offset: Int
    public let byteCount: Int
    /// When it is decoded, in the track's timescale.
    public let decodeTime: Int64
    /// When it is shown, in the track's timescale.
    public let time: Int64
    /// Whether decoding can start here.
    public let isKeyframe: Bool
}

/// A track's samples in decoding order (ISO 14496-12 sections 8.6 and 8.7), read from the file's own tables one at a
/// time.
public struct MP4SampleTable: Sendable, Sequence {
    /// More than any file played here has: 38 hours at 120 frames per second.
    static let largestCount = 1 << 24
    /// Size limit of a sample; a larger one means a damaged file.
    static let largestSample = 16 << 20

    public let count: Int
    /// Decode time of the first sample, in the track's timescale: 0 unless the file is fragmented.
    public let start: Int64
    /// Total duration of the samples, in the track's timescale.
    public let duration: Int64
    /// When the last sample stops being shown, in the track's timescale.
    public let end: Int64
    fileprivate let tables: MP4Tables

    /// - Throws: `BitstreamError` if the tables contradict each other or a sample is not in the file.
    init(_ boxes: MP4Boxes, start: Int64 = 0, fileByteCount: Int) throws(BitstreamError) {
        tables = try MP4Tables(boxes)
        count = tables.sampleCount
        self.start = start
        var cursor = MP4SampleCursor(tables, start: start)
        var end: Int64 = 0
        while let sample = try cursor.next() {
            guard sample.byteCount <= Self.largestSample else {
                throw .invalid(structure: MP4Movie.structure, field: "size of a sample", value: sample.byteCount)
            }
            guard sample.offset <= fileByteCount, fileByteCount - sample.offset >= sample.byteCount else {
                let missing = sample.byteCount - Swift.max(0, fileByteCount - sample.offset)
                throw .truncated(structure: MP4Movie.structure, needed: missing)
            }
            end = Swift.max(end, sample.time + cursor.decodeTime - sample.decodeTime)
        }
        self.end = end
        duration = cursor.decodeTime - start
    }

    public func makeIterator() -> Iterator { Iterator(cursor: MP4SampleCursor(tables, start: start)) }

    /// The tables were already read completely, so they are known to be valid.
    public struct Iterator: IteratorProtocol, Sendable {
        fileprivate var cursor: MP4SampleCursor

        public mutating func next() -> MP4Sample? { (try? cursor.next()) ?? nil }
    }
}

/// The boxes of a sample table, unchanged from the file.
private struct MP4Tables {
    let sampleCount: Int
    /// Size of every sample; 0 if `sizes` has one for each.
    let commonSize: Int
    let sizes: ByteReader
    /// Pairs of count and duration.
    let durations: ByteReader
    /// Pairs of count and delay from decoding to showing; `nil` if there is no such table.
    let distances: ByteReader?
    /// Triples of first chunk, samples per chunk, and sample description.
    let chunks: ByteReader
    let chunkCount: Int
    let offsets: ByteReader
    let hasLongOffsets: Bool
    /// Numbers of the keyframes; `nil` if all samples are keyframes.
    let keyframes: ByteReader?

    init(_ boxes: MP4Boxes) throws(BitstreamError) {
        guard let sizeBox = boxes["stsz"] else {
            throw .unsupported(structure: MP4Movie.structure, feature: "a table of sample sizes other than stsz")
        }
        var reader = sizeBox.reader
        _ = try reader.versionAndFlags()
        commonSize = Int(try reader.bigEndian32())
        sampleCount = Int(try reader.bigEndian32())
        guard sampleCount <= MP4SampleTable.largestCount else {
            throw .invalid(structure: MP4Movie.structure, field: "number of samples", value: sampleCount)
        }
        sizes = reader
        durations = try Self.entries(of: boxes.required("stts"))
        distances = try boxes["ctts"].map { box throws(BitstreamError) in try Self.entries(of: box) }
        chunks = try Self.entries(of: boxes.required("stsc"))
        hasLongOffsets = boxes["stco"] == nil
        var offsetReader = try boxes.required(hasLongOffsets ? "co64" : "stco").reader
        _ = try offsetReader.versionAndFlags()
        chunkCount = Int(try offsetReader.bigEndian32())
        offsets = offsetReader
        keyframes = try boxes["stss"].map { box throws(BitstreamError) in try Self.entries(of: box) }
    }

    /// A table's entries. The cursor uses the end of the table rather than its count.
    private static func entries(of box: MP4Box) throws(BitstreamError) -> ByteReader {
        var reader = box.reader
        _ = try reader.versionAndFlags()
        _ = try reader.bigEndian32()
        return reader
    }
}

/// A position in a sample table.
private struct MP4SampleCursor {
    private let tables: MP4Tables
    private var index = 0
    private var sizes: ByteReader
    private var durations: Runs
    private var distances: Runs?
    private var chunks: ByteReader
    private var offsets: ByteReader
    /// The present chunk, counted from 1, and its remaining samples.
    private var chunk = 0
    private var samplesLeft = 0
    private var samplesPerChunk = 0
    /// The next entry of `chunks`.
    private var nextChange: (chunk: Int, samples: Int)?
    private var offset = 0
    private var keyframes: ByteReader?
    private var nextKeyframe: Int?
    /// Decode time of the next sample.
    private(set) var decodeTime: Int64

    /// Pairs of count and value.
    private struct Runs {
        var reader: ByteReader
        var left: UInt32 = 0
        var value: UInt32 = 0

        init(_ reader: ByteReader) { self.reader = reader }

        mutating func next() throws(BitstreamError) -> UInt32 {
            while left == 0 {
                left = try reader.bigEndian32()
                value = try reader.bigEndian32()
            }
            left -= 1
            return value
        }
    }

    init(_ tables: MP4Tables, start: Int64) {
        self.tables = tables
        decodeTime = start
        sizes = tables.sizes
        durations = Runs(tables.durations)
        distances = tables.distances.map { Runs($0) }
        chunks = tables.chunks
        offsets = tables.offsets
        keyframes = tables.keyframes
    }

    mutating func next() throws(BitstreamError) -> MP4Sample? {
        guard index < tables.sampleCount else { return nil }
        if index == 0 {
            try readChange()
            nextKeyframe = try readKeyframe()
        }
        while samplesLeft == 0 { try enterChunk() }
        let byteCount = tables.commonSize > 0 ? tables.commonSize : Int(try sizes.bigEndian32())
        let duration = try durations.next()
        // By the standard, version 0 has no negative delays, but files contain them.
        let distance = try distances?.next() ?? 0
        var isKeyframe = keyframes == nil
        if nextKeyframe == index + 1 {
            isKeyframe = true
            nextKeyframe = try readKeyframe()
        }
        let sample = MP4Sample(
            offset: offset, byteCount: byteCount, decodeTime: decodeTime,
            time: decodeTime + Int64(Int32(bitPattern: distance)), isKeyframe: isKeyframe)
        decodeTime += Int64(duration)
        (offset, _) = offset.addingReportingOverflow(byteCount)
        samplesLeft -= 1
        index += 1
        return sample
    }

    private mutating func enterChunk() throws(BitstreamError) {
        chunk += 1
        guard chunk <= tables.chunkCount else {
            throw .truncated(structure: MP4Movie.structure, needed: tables.sampleCount - index)
        }
        if let change = nextChange, change.chunk == chunk {
            samplesPerChunk = change.samples
            try readChange()
        }
        let place = tables.hasLongOffsets ? try offsets.bigEndian64() : UInt64(try offsets.bigEndian32())
        guard let place = Int(exactly: place) else {
            throw .invalid(structure: MP4Movie.structure, field: "offset of a chunk", value: .max)
        }
        offset = place
        samplesLeft = samplesPerChunk
    }

    private mutating func readChange() throws(BitstreamError) {
        guard chunks.bytesLeft >= 12 else {
            nextChange = nil
            return
        }
        let first = Int(try chunks.bigEndian32())
        let samples = Int(try chunks.bigEndian32())
        guard try chunks.bigEndian32() == 1 else {
            throw .unsupported(structure: MP4Movie.structure, feature: "a track that changes its format")
        }
        guard first > chunk else {
            throw .invalid(structure: MP4Movie.structure, field: "first chunk of a run", value: first)
        }
        nextChange = (first, samples)
    }

    private mutating func readKeyframe() throws(BitstreamError) -> Int? {
        guard var reader = keyframes, reader.bytesLeft >= 4 else { return nil }
        let number = Int(try reader.bigEndian32())
        keyframes = reader
        return number
    }
}
