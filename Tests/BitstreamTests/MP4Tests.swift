import Media
import SeededNumbers
import Testing

@testable import Bitstream

/// Boxes of an MP4 file, byte by byte.
private enum MP4Writer {
    static func number(_ value: Int, bytes: Int = 4) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func numbers(_ values: [Int]) -> [UInt8] { values.flatMap { number($0) } }

    static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap { $0 }
        return number(8 + content.count) + Array(type.utf8) + content
    }

    /// With version and flags.
    static func fullBox(_ type: String, version: UInt8 = 0, _ content: [UInt8]...) -> [UInt8] {
        box(type, [version, 0, 0, 0] + content.flatMap { $0 })
    }

    static func descriptor(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
}

/// A movie of four video frames, of which the second one is shown third, and three audio packets.
private struct SampleMovie {
    var matrix = [0x1_0000, 0, 0, 0, 0x1_0000]
    var edits: [(duration: Int, time: Int, rate: Int)] = []
    var videoEntry: [UInt8]?
    var extra: [UInt8] = []
    var chunkOffsets = [100, 200]
    var keyframes = [1, 4]
    var sampleToChunk = [1, 3, 1, 2, 1, 1]

    static let fileByteCount = 1000

    private typealias W = MP4Writer

    static func avc() throws -> [UInt8] {
        let record = try AVCDecoderConfigurationRecord(
            sequenceParameterSets: [SampleUnits.baselineSPS], pictureParameterSets: [SampleUnits.pps])
        return W.box("avc1", [UInt8](repeating: 0, count: 78), W.box("avcC", record.bytes))
    }

    static func aac(kind: UInt8 = 0x40) -> [UInt8] {
        let decoder: [UInt8] = [kind, 0x15] + [UInt8](repeating: 0, count: 11) + W.descriptor(5, [0x12, 0x10])
        let stream = W.descriptor(3, [0, 1, 0] + W.descriptor(4, decoder))
        return W.box("mp4a", [UInt8](repeating: 0, count: 28), W.fullBox("esds", stream))
    }

    private func track(
        _ kind: String, timescale: Int, entry: [UInt8], _ tables: [UInt8], edits: [UInt8] = []
    ) -> [UInt8] {
        let header = W.fullBox(
            "tkhd", [UInt8](repeating: 0, count: 36), W.numbers(matrix + [0, 0, 0, 0]), W.numbers([0, 0]))
        let mediaHeader = W.fullBox("mdhd", W.numbers([0, 0, timescale, 0, 0]))
        let handler = W.fullBox("hdlr", W.number(0), Array(kind.utf8), [UInt8](repeating: 0, count: 13))
        let table = W.box("stbl", W.fullBox("stsd", W.number(1), entry), tables)
        return W.box("trak", header, edits, W.box("mdia", mediaHeader, handler, W.box("minf", table)))
    }

    func bytes() throws -> [UInt8] {
        let video =
            W.fullBox("stsz", W.numbers([0, 4, 10, 20, 30, 40])) + W.fullBox("stts", W.numbers([1, 4, 3000]))
            + W.fullBox("ctts", version: 1, W.numbers([4, 1, 3000, 1, 6000, 1, 0, 1, 3000]))
            + W.fullBox("stsc", W.numbers([2] + sampleToChunk))
            + W.fullBox("stco", W.numbers([chunkOffsets.count] + chunkOffsets))
            + W.fullBox("stss", W.numbers([keyframes.count] + keyframes))
        let list = W.fullBox(
            "elst", W.number(edits.count), edits.flatMap { W.numbers([$0.duration, $0.time, $0.rate]) })
        let audio =
            W.fullBox("stsz", W.numbers([50, 3])) + W.fullBox("stts", W.numbers([1, 3, 1024]))
            + W.fullBox("stsc", W.numbers([1, 1, 3, 1])) + W.fullBox("co64", W.number(1), W.number(300, bytes: 8))
        return W.fullBox("mvhd", W.numbers([0, 0, 1000, 0]), [UInt8](repeating: 0, count: 80))
            + (try track(
                "vide", timescale: 90_000, entry: videoEntry ?? Self.avc(), video,
                edits: edits.isEmpty ? [] : W.box("edts", list)))
            + track("soun", timescale: 44_100, entry: Self.aac(), audio) + extra
    }

    func movie() throws -> MP4Movie { try MP4Movie(parsing: bytes(), fileByteCount: Self.fileByteCount) }
}

@Suite struct MP4Tests {
    @Test func samplesAreWhereTheTablesSay() throws {
        let movie = try SampleMovie().movie()
        let video = try #require(movie.video)
        let samples = Array(video.samples)
        #expect(samples.map(\.offset) == [100, 110, 130, 200])
        #expect(samples.map(\.byteCount) == [10, 20, 30, 40])
        #expect(samples.map(\.decodeTime) == [0, 3000, 6000, 9000])
        #expect(samples.map(\.time) == [3000, 9000, 6000, 12_000])
        #expect(samples.map(\.isKeyframe) == [true, false, false, true])
        let times: [Duration] = [33_333_333, 100_000_000, 66_666_666, 133_333_333].map { .nanoseconds($0) }
        #expect(samples.map { video.time(of: $0) } == times)
        #expect(video.sampleRate == 30)
        #expect(video.end == .nanoseconds(166_666_666))
        let audio = try #require(movie.audio)
        #expect(audio.samples.map(\.offset) == [300, 350, 400])
        #expect(audio.samples.map(\.isKeyframe) == [true, true, true])
        guard case .aac(let config, let bytes) = audio.description else {
            Issue.record("\(audio.description)")
            return
        }
        #expect(config.sampleRate == 44_100 && config.channelCount == 2 && bytes == [0x12, 0x10])
        #expect(movie.duration == video.end)
    }

    @Test func editListDelaysAndCuts() throws {
        var sample = SampleMovie()
        sample.edits = [(500, -1, 0x1_0000), (100, 3000, 0x1_0000)]
        let video = try #require(try sample.movie().video)
        #expect(video.start == .milliseconds(500))
        #expect(video.end == .milliseconds(600))
        #expect(video.samples.map { video.time(of: $0) }.first == .milliseconds(500))
        sample.edits = [(100, 0, 0x1_0000), (100, 6000, 0x1_0000)]
        #expect(throws: BitstreamError.self) { try sample.movie() }
        sample.edits = [(100, 0, 0x2_0000)]
        #expect(throws: BitstreamError.self) { try sample.movie() }
    }

    @Test(arguments: [
        ([0x1_0000, 0, 0, 0, 0x1_0000], FrameRotation()),
        ([0, 0x1_0000, 0, -0x1_0000, 0], FrameRotation(.clockwise90)),
        ([-0x1_0000, 0, 0, 0, -0x1_0000], FrameRotation(.half)),
        ([0, -0x1_0000, 0, 0x1_0000, 0], FrameRotation(.clockwise270)),
        ([-0x1_0000, 0, 0, 0, 0x1_0000], FrameRotation(isMirrored: true)),
        ([0, 0x1_0000, 0, 0x1_0000, 0], FrameRotation(.clockwise90, isMirrored: true)),
        ([0x1_0000, 0, 0, 0, -0x1_0000], FrameRotation(.half, isMirrored: true)),
        ([0, -0x1_0000, 0, -0x1_0000, 0], FrameRotation(.clockwise270, isMirrored: true)),
        // A rounded sine, and a scale.
        ([-0x1_FFFF, 5, 0, -5, -0x1_FFFF], FrameRotation(.half)),
    ])
    func trackHeaderDeterminesTheRotation(matrix: [Int], rotation: FrameRotation) throws {
        var sample = SampleMovie()
        sample.matrix = matrix
        #expect(try sample.movie().video?.rotation == rotation)
    }

    @Test(arguments: [
        [0, 0, 0, 0, 0], [0xB505, 0xB505, 0, -0xB505, 0xB505], [0x1_0000, 0x1_0000, 0, 0x1_0000, 0x1_0000],
        [Int(Int32.min), Int(Int32.min), 0, Int(Int32.min), Int(Int32.min)],
    ])
    func otherMatricesLeaveFramesUnchanged(matrix: [Int]) throws {
        var sample = SampleMovie()
        sample.matrix = matrix
        #expect(try sample.movie().video?.rotation == FrameRotation())
    }

    @Test func otherFormatsAreNamed() throws {
        var sample = SampleMovie()
        sample.videoEntry = MP4Writer.box("hvc1", [UInt8](repeating: 0, count: 78))
        let movie = try sample.movie()
        #expect(movie.video == nil && movie.otherVideo == "hvc1" && movie.audio != nil)
    }

    @Test func fragmentsAreRefused() throws {
        var sample = SampleMovie()
        sample.extra = MP4Writer.box("mvex", [])
        #expect(throws: BitstreamError.unsupported(structure: "MP4 file", feature: "fragments")) {
            try sample.movie()
        }
    }

    @Test func samplesBeyondTheFileAreRefused() throws {
        var sample = SampleMovie()
        sample.chunkOffsets = [100, 961]
        #expect(throws: BitstreamError.truncated(structure: "MP4 file", needed: 1)) { try sample.movie() }
        sample.chunkOffsets = [100, 960]
        #expect(try sample.movie().video?.samples.count == 4)
        sample.chunkOffsets = [100]
        #expect(throws: BitstreamError.self) { try sample.movie() }
        sample.chunkOffsets = [100, 200]
        sample.sampleToChunk = [1, 0, 1]
        #expect(throws: BitstreamError.self) { try sample.movie() }
        sample.sampleToChunk = [1, 3, 1, 2, 1, 2]
        #expect(throws: BitstreamError.self) { try sample.movie() }
    }

    @Test func longBoxesAndBoxesToTheEndAreRead() throws {
        let long = try MP4BoxHeader(
            parsing: MP4Writer.number(1) + Array("mdat".utf8) + MP4Writer.number(1 << 40, bytes: 8))
        #expect(long.contentByteCount == 1 << 40 - 16 && long.headerByteCount == 16)
        #expect(try MP4BoxHeader(parsing: MP4Writer.number(0) + Array("mdat".utf8)).contentByteCount == nil)
        #expect(throws: BitstreamError.self) { try MP4BoxHeader(parsing: MP4Writer.number(7) + Array("mdat".utf8)) }
        #expect(throws: BitstreamError.self) {
            try MP4BoxHeader(parsing: MP4Writer.number(1) + Array("mdat".utf8) + [UInt8](repeating: 255, count: 8))
        }
    }

    /// A list of boxes may end after any of them; then a track is missing.
    @Test func everyTruncationIsAnErrorOrLacksATrack() throws {
        let bytes = try SampleMovie().bytes()
        for length in 0..<bytes.count {
            let movie = try? MP4Movie(parsing: Array(bytes[..<length]), fileByteCount: SampleMovie.fileByteCount)
            #expect(movie == nil || movie?.audio == nil)
        }
    }

    @Test func damageNeverTraps() throws {
        var random = SeededGenerator(seed: 31)
        var sample = SampleMovie()
        sample.edits = [(500, -1, 0x1_0000), (100, 3000, 0x1_0000)]
        let bytes = try sample.bytes()
        for place in bytes.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)] {
                var damaged = bytes
                damaged[place] = value
                guard let movie = try? MP4Movie(parsing: damaged, fileByteCount: SampleMovie.fileByteCount) else {
                    continue
                }
                for track in [movie.video, movie.audio].compactMap({ $0 }) {
                    for sample in track.samples.prefix(10) {
                        _ = track.time(of: sample)
                        #expect(sample.offset + sample.byteCount <= SampleMovie.fileByteCount)
                    }
                }
            }
        }
    }
}

@Suite struct FileSignatureTests {
    @Test(arguments: [
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13], "a PNG file"),
        ([0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1], "a JPEG file"),
        (Array("\0\0\0\u{20}ftypisom".utf8), "an MP4 file"), (Array("\0\0\0\u{18}ftypheic".utf8), "a HEIF image"),
        (Array("RIFFxxxxWEBP".utf8), "a WebP image"), (Array("FLV\u{1}".utf8), "an FLV file"),
    ])
    func filesAreRecognizedByTheirFirstBytes(bytes: [UInt8], name: String) {
        #expect(FileSignature.name(of: bytes) == name)
    }

    @Test func otherBytesAreNotGuessed() {
        #expect(FileSignature.name(of: []) == nil)
        #expect(FileSignature.name(of: Array("nothing at all".utf8)) == nil)
    }
}
