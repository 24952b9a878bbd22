import Media
import SeededNumbers
import Testing

@testable import Bitstream

/// A file in memory.
struct MemoryFile {
    var bytes: [UInt8] = []
    private(set) var readCount = 0

    mutating func perform(_ step: MP4FileStep) {
        switch step {
        case .write(let pieces, let offset):
            let content = pieces.flatMap { $0 }
            if bytes.count < offset + content.count {
                bytes += [UInt8](repeating: 0, count: offset + content.count - bytes.count)
            }
            bytes.replaceSubrange(offset..<offset + content.count, with: content)
        case .truncate(let length): bytes.removeSubrange(length...)
        case .synchronize: break
        }
    }

    mutating func perform(_ steps: [MP4FileStep]) { for step in steps { perform(step) } }

    func condition() -> MP4RecordingCondition {
        MP4RecordingCondition(byteCount: bytes.count) { offset, count throws(Never) in
            Array(bytes[offset..<offset + count])
        }
    }
}

/// Video of 25 frames and audio of 47 packets per second, with lengths and contents that vary.
struct SampleRecording {
    static let start = MediaTimestamp(milliseconds: 5_000)
    static let audioHeader: [UInt8] = [0x11, 0x90]  // AAC-LC, 48 kHz, stereo
    var hasVideo = true
    var hasAudio = true
    var frameDuration = Duration.milliseconds(40)
    var audioDelay = Duration.milliseconds(15)
    var gop = 5
    var compositionOffsets: [Duration] = [.zero]

    static func videoHeader() throws -> [UInt8] {
        try AVCDecoderConfigurationRecord(
            sequenceParameterSets: [SampleUnits.baselineSPS], pictureParameterSets: [SampleUnits.pps]
        ).bytes
    }

    func tracks() throws -> MP4RecordedTracks {
        try MP4RecordedTracks(
            videoHeader: hasVideo ? Self.videoHeader() : nil, audioHeader: hasAudio ? Self.audioHeader : nil)
    }

    func writer(creation: Int64? = 1_790_000_000) throws -> MP4RecordingWriter {
        MP4RecordingWriter(try tracks(), start: Self.start, creation: creation)
    }

    /// In the order of their times.
    func packets(frames: Int) -> [EncodedPacket] {
        var random = SeededGenerator(seed: 7)
        var packets: [EncodedPacket] = []
        for number in 0..<frames where hasVideo {
            let unit = [0x65] + random.bytes(5 + number % 7)
            packets.append(
                EncodedPacket(
                    kind: .video(isKeyframe: number % gop == 0), decodeTime: Self.start + frameDuration * number,
                    compositionOffset: compositionOffsets[number % compositionOffsets.count],
                    payload: SampleUnits.lengthPrefixed([unit])))
        }
        let length = frameDuration * frames
        for number in 0..<1_000_000 where hasAudio {
            let time = audioDelay + .nanoseconds(Int64(number) * 1024 * 1_000_000_000 / 48_000)
            guard time < length else { break }
            packets.append(
                EncodedPacket(
                    kind: .audio, decodeTime: Self.start + time, payload: [0x21] + random.bytes(3 + number % 4)))
        }
        return packets.sorted { $0.decodeTime < $1.decodeTime }
    }

    /// The steps of each write: the head, then the fragments, one per GOP.
    func stages(_ writer: inout MP4RecordingWriter, frames: Int) -> [[MP4FileStep]] {
        var stages = [writer.begin()]
        for packet in packets(frames: frames) {
            if packet.kind == .video(isKeyframe: true) {
                stages.append(
                    writer.endFragment(nextFrame: packet.decodeTime, clock: MP4WallClock(offset: 1_700_000_000 << 30)))
            }
            _ = writer.append(packet)
        }
        stages.append(writer.endFragment(nextFrame: nil, clock: nil))
        return stages.filter { !$0.isEmpty }
    }

    static func movie(in bytes: [UInt8]) throws -> MP4Movie {
        let moov = try #require(try MP4Box.all(in: bytes[...]).first { $0.type == "moov" })
        return try MP4Movie(parsing: Array(moov.content), fileByteCount: bytes.count)
    }
}

@Suite struct MP4RecordingTests {
    private func finished(_ sample: SampleRecording, frames: Int = 23) throws -> [UInt8] {
        var writer = try sample.writer()
        var file = MemoryFile()
        file.perform(sample.stages(&writer, frames: frames).flatMap { $0 })
        #expect(file.bytes.count == writer.byteCount)
        file.perform(writer.finish())
        #expect(file.bytes.count - writer.byteCount <= writer.finishByteCount)
        return file.bytes
    }

    /// Compares a finished file with the packets that went into it.
    private func expectSamples(_ sample: SampleRecording, frames: Int = 23) throws {
        let bytes = try finished(sample, frames: frames)
        let movie = try SampleRecording.movie(in: bytes)
        let packets = sample.packets(frames: frames)
        for (track, found) in [(true, movie.video), (false, movie.audio)] {
            let wanted = packets.filter { $0.isVideo == track }
            guard let found else {
                #expect(wanted.isEmpty)
                continue
            }
            let samples = Array(found.samples)
            #expect(samples.map { Array(bytes[$0.offset..<$0.offset + $0.byteCount]) } == wanted.map(\.payload))
            #expect(samples.map(\.isKeyframe) == wanted.map { $0.kind != .video(isKeyframe: false) })
            for (sample, packet) in zip(samples, wanted) {
                let time = packet.decodeTime + packet.compositionOffset - SampleRecording.start
                #expect(abs((found.time(of: sample) - time).inSeconds) < 2.5e-5)
            }
        }
    }

    @Test func finishedFileHasEverySampleAtItsTime() throws {
        try expectSamples(SampleRecording())
        try expectSamples(SampleRecording(), frames: 1)
    }

    @Test func trackMayBeMissingOrStartLater() throws {
        var sample = SampleRecording()
        sample.hasAudio = false
        try expectSamples(sample)
        sample = SampleRecording()
        sample.hasVideo = false
        sample.audioDelay = .zero
        try expectSamples(sample)
        sample = SampleRecording()
        sample.audioDelay = .milliseconds(700)
        try expectSamples(sample)
        #expect(
            try SampleRecording.movie(in: try finished(sample)).audio?.start == .nanoseconds(700_000_000))
        sample.audioDelay = .seconds(5)
        let movie = try SampleRecording.movie(in: try finished(sample))
        #expect(movie.audio == nil && movie.otherAudio == nil && movie.video != nil)
    }

    @Test func reorderedFramesKeepTheirTimes() throws {
        var sample = SampleRecording()
        sample.compositionOffsets = [80, 120, 0].map { .milliseconds($0) }
        try expectSamples(sample)
    }

    @Test func frameRateMayVary() throws {
        var sample = SampleRecording()
        sample.frameDuration = .nanoseconds(33_366_667)
        try expectSamples(sample, frames: 100)
    }

    @Test func longFilesHaveLongOffsets() throws {
        var index = MP4SampleIndex()
        let samples = [MP4Fragment.Sample(byteCount: 9, duration: 3000, compositionOffset: 0, isKeyframe: true)]
        for number in 0..<2 {
            let run = MP4Fragment.Run(track: .video, baseTime: Int64(number) * 3000, samples: samples)
            index.add(
                MP4Fragment(sequence: UInt32(number + 1), runs: [run]), dataOffset: [100, 5 << 30][number])
        }
        let tracks = try MP4RecordedTracks(videoHeader: try SampleRecording.videoHeader(), audioHeader: nil)
        let moov = MP4RecordingHeader(tracks: tracks, creation: nil).movie(index)
        let movie = try MP4Movie(parsing: Array(moov.dropFirst(8)), fileByteCount: 6 << 30)
        #expect(movie.video?.samples.map(\.offset) == [100, 5 << 30])
    }

    @Test func fragmentIsReadAsItWasWritten() throws {
        var sample = SampleRecording()
        sample.compositionOffsets = [.zero, .milliseconds(40)]
        var writer = try sample.writer()
        let stages = sample.stages(&writer, frames: 12)
        #expect(stages.count == 4)
        for (number, stage) in stages.dropFirst().enumerated() {
            guard case .write(let pieces, _) = stage[0] else { continue }
            var boxes = try MP4Box.all(in: pieces.flatMap { $0 }[...])
            // The last one has no clock.
            #expect(boxes.map(\.type) == (number < 2 ? ["prft", "moof", "mdat"] : ["moof", "mdat"]))
            if number < 2 { boxes.removeFirst() }
            let fragment = try MP4Fragment(
                parsing: Array(boxes[0].content), dataByteCount: boxes[1].content.count)
            #expect(fragment.sequence == UInt32(number + 1))
            let rewritten: [UInt8] = fragment.header + Array(boxes[1].content)
            #expect(rewritten == Array(pieces.flatMap { $0 }.suffix(rewritten.count)))
        }
    }

    @Test func referenceTimeIsTheCaptureTimeInUTC() throws {
        // 2026-11-24T00:00:00.5Z at the capture time 5 s.
        let offset: Int64 = 1_795_478_400_500_000_000 - 5_000_000_000
        #expect(
            MP4WallClock(offset: offset).networkTime(of: SampleRecording.start)
                == UInt64(1_795_478_400 + 2_208_988_800) << 32 | 1 << 31)
        var writer = try SampleRecording().writer()
        _ = writer.begin()
        _ = writer.append(SampleRecording().packets(frames: 1)[0])
        guard case .write(let pieces, _) = writer.endFragment(nextFrame: nil, clock: MP4WallClock(offset: offset))[0]
        else {
            Issue.record("no write")
            return
        }
        let expected: [UInt8] = [
            0, 0, 0, 32, 0x70, 0x72, 0x66, 0x74, 1, 0, 0, 24, 0, 0, 0, 1, 0xEE, 0xAF, 0x52, 0, 0x80, 0, 0, 0,
        ]
        #expect(Array(pieces[0].prefix(24)) == expected)
    }

    @Test func audioFollowsItsPredecessorUnlessItIsFarAway() throws {
        var sample = SampleRecording()
        sample.hasVideo = false
        var writer = try sample.writer()
        var file = MemoryFile()
        file.perform(writer.begin())
        // Milliseconds as RTMP rounds them, then a gap, then an overlap.
        for time in [0, 21, 43, 64, 200, 221, 230] {
            let packet = EncodedPacket(
                kind: .audio, decodeTime: SampleRecording.start + .milliseconds(time), payload: [0x21])
            let isAccepted = writer.append(packet)
            #expect(isAccepted)
        }
        file.perform(writer.endFragment(nextFrame: nil, clock: nil) + writer.finish())
        let audio = try #require(try SampleRecording.movie(in: file.bytes).audio)
        #expect(audio.samples.map(\.decodeTime) == [0, 1024, 2048, 3072, 9600, 10_624, 11_648])
    }

    @Test func mediaThatDoesNotBelongIsRefused() throws {
        var writer = try SampleRecording().writer()
        let early = EncodedPacket(kind: .audio, decodeTime: .zero, payload: [0x21])
        let header = EncodedPacket(kind: .audioHeader, decodeTime: SampleRecording.start, payload: [])
        let accepted = [writer.append(early), writer.append(header)]
        #expect(accepted == [false, false])
        #expect(writer.isOpenEmpty)
        let steps = writer.endFragment(nextFrame: nil, clock: nil)
        #expect(steps.isEmpty)
        #expect(throws: BitstreamError.self) { try MP4RecordedTracks(videoHeader: nil, audioHeader: nil) }
        #expect(throws: BitstreamError.self) {
            try MP4RecordedTracks(
                videoHeader: nil, audioHeader: SampleRecording.audioHeader + [UInt8](repeating: 0, count: 80))
        }
    }
}

@Suite struct MP4RecordingRepairTests {
    private struct Recorded {
        var file = MemoryFile()
        var writer: MP4RecordingWriter
        /// After each stage: the file's length, and the steps that would have finished it there.
        var stops: [(byteCount: Int, finish: [MP4FileStep])] = []

        init(_ sample: SampleRecording = SampleRecording(), frames: Int = 13) throws {
            writer = try sample.writer()
            // The writer's state after each stage is that of one that got fewer packets.
            for stage in sample.stages(&writer, frames: frames) {
                file.perform(stage)
                stops.append((file.bytes.count, []))
            }
            for number in stops.indices {
                var open = try sample.writer()
                _ = open.begin()
                stops[number].finish = Self.finish(sample, frames: frames, stages: number, &open)
            }
        }

        private static func finish(
            _ sample: SampleRecording, frames: Int, stages: Int, _ writer: inout MP4RecordingWriter
        ) -> [MP4FileStep] {
            var ended = 0
            for packet in sample.packets(frames: frames) {
                if packet.kind == .video(isKeyframe: true), !writer.isOpenEmpty {
                    guard ended < stages else { break }
                    _ = writer.endFragment(
                        nextFrame: packet.decodeTime, clock: MP4WallClock(offset: 1_700_000_000 << 30))
                    ended += 1
                }
                _ = writer.append(packet)
            }
            if ended < stages { _ = writer.endFragment(nextFrame: nil, clock: nil) }
            return writer.finish()
        }

        /// The file as if recording had ended after a stage.
        func finished(after stage: Int) -> [UInt8] {
            var file = MemoryFile(bytes: Array(file.bytes.prefix(stops[stage].byteCount)))
            file.perform(stops[stage].finish)
            return file.bytes
        }
    }

    private func repaired(_ bytes: [UInt8]) -> [UInt8]? {
        var file = MemoryFile(bytes: bytes)
        guard case .unfinished(let repair) = file.condition() else { return nil }
        file.perform(repair.steps)
        #expect(file.condition() == .finished)
        return file.bytes
    }

    @Test func everyTruncationIsRepairedToAllCompleteFragments() throws {
        let recorded = try Recorded()
        #expect(recorded.stops.count == 4)
        let finished = recorded.stops.indices.map(recorded.finished)
        for length in 0...recorded.file.bytes.count {
            let bytes = Array(recorded.file.bytes.prefix(length))
            let whole = recorded.stops.lastIndex { $0.byteCount <= length } ?? 0
            if whole == 0 {
                #expect(MemoryFile(bytes: bytes).condition() == .empty)
            } else {
                #expect(repaired(bytes) == finished[whole], "cut to \(length) bytes")
            }
        }
    }

    @Test func powerCutWhileFinishingLosesNothing() throws {
        let recorded = try Recorded()
        let last = recorded.stops.count - 1
        let finished = recorded.finished(after: last)
        let end = recorded.file.bytes.count
        let fragmented = recorded.file.bytes + finished[end...]
        for length in end..<finished.count {
            #expect(repaired(Array(fragmented.prefix(length))) == finished, "cut to \(length) bytes")
            // A medium that wrote the placeholder before the index.
            #expect(repaired(Array(finished.prefix(length))) == finished, "cut to \(length) bytes")
        }
        #expect(repaired(fragmented) == finished, "before the placeholder was replaced")
        #expect(MemoryFile(bytes: finished).condition() == .finished)
    }

    @Test func powerCutWhileRepairingLosesNothing() throws {
        let recorded = try Recorded()
        let cut = Array(recorded.file.bytes.dropLast(9))
        guard case .unfinished(let repair) = MemoryFile(bytes: cut).condition() else {
            Issue.record("not repairable")
            return
        }
        #expect(repair.lostByteCount == cut.count - recorded.stops[2].byteCount && repair.frameCount == 10)
        for count in repair.steps.indices {
            var file = MemoryFile(bytes: cut)
            file.perform(Array(repair.steps.prefix(count)))
            #expect(file.condition() == .finished || repaired(file.bytes) == recorded.finished(after: 2))
        }
    }

    @Test(arguments: [UInt8(0), 0xFF])
    func fragmentWithoutContentsIsDropped(filling: UInt8) throws {
        let recorded = try Recorded()
        let before = recorded.stops[2].byteCount
        var bytes = recorded.file.bytes
        let header = bytes.count - 60
        for index in header..<bytes.count { bytes[index] = filling }
        #expect(repaired(bytes) == recorded.finished(after: 2))
        for index in before..<bytes.count { bytes[index] = filling }
        #expect(repaired(bytes) == recorded.finished(after: 2))
        // Contents of an earlier recording in the same place.
        bytes = Array(recorded.file.bytes.prefix(before)) + recorded.file.bytes[recorded.stops[0].byteCount..<before]
        #expect(repaired(bytes) == recorded.finished(after: 2))
    }

    @Test func headOfZerosIsEmpty() {
        #expect(MemoryFile(bytes: [UInt8](repeating: 0, count: 5000)).condition() == .empty)
        #expect(MemoryFile().condition() == .empty)
    }

    @Test func otherFilesAreLeftAlone() throws {
        let recorded = try Recorded()
        func isForeign(_ bytes: [UInt8]) -> Bool {
            if case .foreign = MemoryFile(bytes: bytes).condition() { return true }
            return false
        }
        #expect(isForeign(Array("\0\0\0\u{18}ftypmp42\0\0\0\0mp42isom\0\0\0\u{8}free\0\0\0\u{8}mdat".utf8)))
        #expect(isForeign(Array("FLV\u{1}\u{5}\0\0\0\u{9}".utf8)))
        var bytes = recorded.file.bytes
        bytes[36] = 0x6D
        #expect(isForeign(bytes), "another box in the placeholder's place")
        // Without mvex it is not a fragmented file.
        bytes = recorded.file.bytes
        let place = try #require((0..<bytes.count).first { bytes[$0...].starts(with: Array("mvex".utf8)) })
        bytes[place] = 0x78
        #expect(isForeign(bytes))
    }

    @Test func damageNeverTrapsAndNeverAddsSamples() throws {
        var random = SeededGenerator(seed: 3)
        let recorded = try Recorded()
        let original = recorded.file.bytes
        for place in original.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)] {
                var file = MemoryFile(bytes: original)
                file.bytes[place] = value
                guard case .unfinished(let repair) = file.condition() else { continue }
                #expect(repair.frameCount <= 13 && repair.audioPacketCount <= 26)
                file.perform(repair.steps)
                #expect(file.condition() == .finished)
                #expect(throws: Never.self) { try SampleRecording.movie(in: file.bytes) }
            }
        }
    }

    @Test func millionsOfBoxesAreReadOnlyUpToTheFirstOther() throws {
        let recorded = try Recorded()
        var reads = 0
        let empty: [UInt8] = [0, 0, 0, 8, 0x70, 0x72, 0x66, 0x74]
        let bytes = recorded.file.bytes + [[UInt8]](repeating: empty, count: 1_000_000).flatMap { $0 }
        let condition = MP4RecordingCondition(byteCount: bytes.count) { offset, count throws(Never) in
            reads += 1
            return Array(bytes[offset..<offset + count])
        }
        guard case .unfinished(let repair) = condition else {
            Issue.record("\(condition)")
            return
        }
        #expect(repair.frameCount == 13 && repair.lostByteCount == 8_000_000 && reads < 200)
    }

    @Test func boxesLargerThanTheFileEndIt() throws {
        let recorded = try Recorded()
        for size in [0, 1, 7, 0x7FFF_FFFF, 0xFFFF_FFFF] {
            var writer = MP4BoxWriter()
            writer.append(UInt32(size))
            writer.append(text: "moof")
            writer.append(UInt64.max)
            #expect(repaired(recorded.file.bytes + writer.bytes) == recorded.finished(after: 3))
        }
    }
}
