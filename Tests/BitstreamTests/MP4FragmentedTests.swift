import Media
import Testing

@testable import Bitstream

extension MP4Movie {
    /// A whole file in memory.
    init(file bytes: [UInt8]) throws(MP4FileProblem<Never>) {
        try self.init(byteCount: bytes.count) { offset, count throws(Never) in Array(bytes[offset..<offset + count]) }
    }
}

@Suite struct MP4FragmentedTests {
    /// Everything that a reader needs.
    private struct Contents: Equatable {
        var video: [[UInt8]] = []
        var audio: [[UInt8]] = []
        var times: [Duration] = []
        var keyframes: [Bool] = []

        init(_ movie: MP4Movie, in bytes: [UInt8]) {
            func payloads(_ track: MP4Track?) -> [[UInt8]] {
                track?.samples.map { Array(bytes[$0.offset..<$0.offset + $0.byteCount]) } ?? []
            }
            video = payloads(movie.video)
            audio = payloads(movie.audio)
            for track in [movie.video, movie.audio] {
                guard let track else { continue }
                times += track.samples.map { track.time(of: $0) }
                keyframes += track.samples.map(\.isKeyframe)
            }
        }
    }

    private func files(_ sample: SampleRecording = SampleRecording()) throws -> (growing: [[UInt8]], finished: [UInt8])
    {
        var writer = try sample.writer()
        var file = MemoryFile()
        var growing: [[UInt8]] = []
        for stage in sample.stages(&writer, frames: 23) {
            file.perform(stage)
            growing.append(file.bytes)
        }
        file.perform(writer.finish())
        return (growing, file.bytes)
    }

    @Test(arguments: [
        SampleRecording(), SampleRecording(compositionOffsets: [.milliseconds(80), .zero, .milliseconds(120)]),
        SampleRecording(hasAudio: false), SampleRecording(audioDelay: .milliseconds(300)),
    ])
    func growingRecordingReadsAsTheFinishedOne(sample: SampleRecording) throws {
        let (growing, finished) = try files(sample)
        let whole = Contents(try MP4Movie(file: finished), in: finished)
        let last = try #require(growing.last)
        let movie = try MP4Movie(file: last)
        #expect(Contents(movie, in: last) == whole && !movie.isCutOff)
        var counts: [Int] = []
        for bytes in growing.dropFirst() {
            let part = Contents(try MP4Movie(file: bytes), in: bytes)
            #expect(whole.video.starts(with: part.video) && whole.audio.starts(with: part.audio))
            counts.append(part.video.count)
        }
        #expect(counts == [5, 10, 15, 20, 23])
    }

    @Test func everyTruncationLeavesTheCompleteFragments() throws {
        let (growing, finished) = try files()
        let whole = Contents(try MP4Movie(file: finished), in: finished)
        let bytes = try #require(growing.last)
        for length in growing[0].count..<bytes.count {
            let cut = Array(bytes.prefix(length))
            let movie = try MP4Movie(file: cut)
            let part = Contents(movie, in: cut)
            let complete = try #require(growing.last { $0.count <= length })
            let frameCount = try MP4Movie(file: complete).video?.samples.count ?? 0
            #expect(whole.video.starts(with: part.video) && part.video.count == frameCount)
            #expect(!movie.isCutOff || length > complete.count)
        }
    }

    @Test func finishedFileThatIsCutIsRefused() throws {
        let finished = try files().finished
        for length in 0..<finished.count {
            #expect(throws: MP4FileProblem<Never>.self) { try MP4Movie(file: Array(finished.prefix(length))) }
        }
    }

    private typealias W = MP4BoxWriter

    /// Fragments as other programs write them: defaults, flags of the first sample, offsets from the file's start, several runs.
    private func foreign(_ edit: (inout MP4BoxWriter, Int) -> Void) throws -> [UInt8] {
        let header = MP4RecordingHeader(tracks: try SampleRecording(hasAudio: false).tracks(), creation: nil)
        var writer = MP4BoxWriter()
        writer.append(bytes: MP4RecordingHeader.fileType + header.movie(nil))
        edit(&writer, writer.bytes.count)
        return writer.bytes
    }

    @Test func defaultsAndSeveralRunsAreFollowed() throws {
        var place = 0
        let bytes = try foreign { file, start in
            place = start
            file.box("moof") { moof in
                moof.fullBox("mfhd") { $0.append(UInt32(1)) }
                moof.box("traf") { traf in
                    // An offset from the file's start, a duration, a size, and flags that are no keyframe's.
                    traf.fullBox("tfhd", flags: 0x39) { box in
                        box.append(UInt32(1))
                        box.append(UInt64(start))
                        box.append([3000, 4, 0x101_0000])
                    }
                    traf.fullBox("tfdt") { $0.append(UInt32(9000)) }
                    // The first sample's flags, and an offset.
                    traf.fullBox("trun", flags: 5) { $0.append([2, 200, 0x200_0000]) }
                    // It follows; each sample has a size and a distance.
                    traf.fullBox("trun", version: 1, flags: 0xA00) {
                        $0.append([2, 6, 6000, 7, UInt32(bitPattern: -3000)])
                    }
                }
            }
            file.box("mdat") { $0.appendZeros(300) }
        }
        let movie = try MP4Movie(file: bytes)
        let samples = Array(try #require(movie.video).samples)
        #expect(samples.map(\.offset) == [place + 200, place + 204, place + 208, place + 214])
        #expect(samples.map(\.byteCount) == [4, 4, 6, 7])
        #expect(samples.map(\.decodeTime) == [9000, 12_000, 15_000, 18_000])
        #expect(samples.map(\.time) == [9000, 12_000, 21_000, 15_000])
        #expect(samples.map(\.isKeyframe) == [true, false, false, false])
    }

    @Test(arguments: [UInt32.max, 1 << 24, 400])
    func moreSamplesThanBytesMeanDamage(count: UInt32) throws {
        let bytes = try foreign { file, _ in
            file.box("moof") { moof in
                moof.box("traf") { traf in
                    traf.fullBox("tfhd", flags: 0x02_0038) { $0.append([1, 3000, 1, 0]) }
                    traf.fullBox("trun", flags: 1) { $0.append([count, 100]) }
                }
            }
        }
        let movie = try? MP4Movie(file: bytes)
        #expect(movie == nil || movie?.isCutOff == true)
    }
}

@Suite struct MP4RecordingSummaryTests {
    private func summary(_ bytes: [UInt8]) -> MP4RecordingSummary? {
        MP4RecordingSummary(byteCount: bytes.count) { offset, count throws(Never) in
            Array(bytes[offset..<offset + count])
        }
    }

    @Test func finishedRecordingsTellTheirLengthAndTime() throws {
        var writer = try SampleRecording().writer()
        var file = MemoryFile()
        file.perform(SampleRecording().stages(&writer, frames: 23).flatMap { $0 })
        #expect(summary(file.bytes) == nil, "not finished")
        file.perform(writer.finish())
        let found = try #require(summary(file.bytes))
        let movie = try MP4Movie(file: file.bytes)
        #expect(found.creation == 1_790_000_000 && abs((found.duration - movie.duration).inSeconds) < 1e-4)
        for length in 0..<file.bytes.count { #expect(summary(Array(file.bytes.prefix(length))) == nil) }
        for place in 0..<file.bytes.count where place < 60 || place > writer.byteCount {
            var damaged = file.bytes
            damaged[place] ^= 0xFF
            _ = summary(damaged)
        }
    }
}
