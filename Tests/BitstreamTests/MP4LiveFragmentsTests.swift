import Media
import SeededNumbers
import Testing

@testable import Bitstream

@Suite struct MP4LiveFragmentsTests {
    private typealias Piece = MP4LiveFragments.Piece

    /// A sample as a player finds it.
    private struct Shown: Equatable {
        var decodeTime: Int64
        var time: Int64
        var duration: UInt32
        var payload: [UInt8]
    }

    /// Checks the form of pieces like a player, and collects their samples.
    private struct Player {
        var starts: [MP4LiveFragments.Start] = []
        var video: [Shown] = []
        var audio: [Shown] = []
        var fragmentCount = 0
        private var isAtStart = false

        init(_ pieces: [Piece]) throws { try take(pieces) }

        mutating func take(_ pieces: [Piece]) throws {
            for piece in pieces {
                switch piece {
                case .start(let start):
                    starts.append(start)
                    isAtStart = true
                case .fragment(let bytes, let isKeyframe):
                    #expect(isKeyframe || !isAtStart)
                    isAtStart = false
                    try take(bytes, isKeyframe: isKeyframe)
                }
            }
        }

        private mutating func take(_ bytes: [UInt8], isKeyframe: Bool) throws {
            fragmentCount += 1
            let boxes = try MP4Box.all(in: bytes[...])
            #expect(boxes.map(\.type) == ["moof", "mdat"])
            let fragment = try MP4Fragment(parsing: Array(boxes[0].content), dataByteCount: boxes[1].content.count)
            #expect(fragment.sequence == UInt32(fragmentCount))
            let frames = fragment.runs.filter { $0.track == .video }.flatMap(\.samples)
            #expect(frames.count <= 1 && (frames.first?.isKeyframe ?? false) == isKeyframe)
            var place = boxes[1].content.startIndex
            for run in fragment.runs {
                var decodeTime = run.baseTime
                for sample in run.samples {
                    let shown = Shown(
                        decodeTime: decodeTime, time: decodeTime + Int64(sample.compositionOffset),
                        duration: sample.duration, payload: Array(bytes[place..<place + sample.byteCount]))
                    if run.track == .video { video.append(shown) } else { audio.append(shown) }
                    decodeTime += Int64(sample.duration)
                    place += sample.byteCount
                }
            }
        }

        /// Whether Media Source Extensions would take the track as continuous (section "coded frame processing").
        static func isContinuous(_ samples: [Shown]) -> Bool {
            zip(samples, samples.dropFirst()).allSatisfy { before, after in
                let distance = after.decodeTime - before.decodeTime
                return distance > 0 && distance <= 2 * Int64(before.duration) && after.time > before.time
            }
        }
    }

    private let header = EncodedPacket(
        kind: .videoHeader, decodeTime: .zero, payload: (try? SampleRecording.videoHeader()) ?? [])
    private let audioHeader = EncodedPacket(
        kind: .audioHeader, decodeTime: .zero, payload: SampleRecording.audioHeader)

    private func frame(_ milliseconds: Int64, isKeyframe: Bool = false, _ content: UInt8 = 1) -> EncodedPacket {
        EncodedPacket(
            kind: .video(isKeyframe: isKeyframe), decodeTime: MediaTimestamp(milliseconds: milliseconds),
            payload: [0, 0, 0, 2, isKeyframe ? 0x65 : 0x41, content])
    }

    private func audio(_ milliseconds: Int64) -> EncodedPacket {
        EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: milliseconds), payload: [0x21, 7])
    }

    private func headerWith(width columns: Int) throws -> EncodedPacket {
        var writer = SPSWriter.plain(columns: columns, rows: 10)
        writer.u(0, 1)
        let record = try AVCDecoderConfigurationRecord(
            sequenceParameterSets: [writer.unit()], pictureParameterSets: [SampleUnits.pps])
        return EncodedPacket(kind: .videoHeader, decodeTime: .zero, payload: record.bytes)
    }

    // MARK: Starts

    @Test func startNamesCodecsAndSizeAndReadsAsAFile() throws {
        var fragments = MP4LiveFragments()
        let player = try Player(fragments.append([header, audioHeader, frame(5000, isKeyframe: true)]))
        let start = try #require(player.starts.first)
        #expect(player.starts.count == 1 && player.fragmentCount == 1)
        #expect(start.codecs == "avc1.42c01e,mp4a.40.2")
        #expect(start.size == FrameSize(width: 640, height: 480))
        let boxes = try MP4Box.all(in: start.segment[...])
        #expect(boxes.map(\.type) == ["ftyp", "moov"])
        #expect(try MP4Boxes(MP4Box.all(in: boxes[1].content))["mvex"] != nil)
        let movie = try MP4Movie(file: start.segment)
        #expect(movie.video != nil && movie.audio != nil)
    }

    @Test func startExcludesReordering() throws {
        var fragments = MP4LiveFragments()
        let player = try Player(fragments.append([headerWith(width: 20), frame(5000, isKeyframe: true)]))
        let start = try #require(player.starts.first)
        let movie = try MP4Movie(file: start.segment)
        guard case .avc(let record)? = movie.video?.description else {
            Issue.record("no H.264 in the start")
            return
        }
        #expect(try SequenceParameterSet.reordering(of: record.sequenceParameterSets[0])?.frames == 0)
    }

    @Test func nothingComesBeforeAKeyframeWithItsHeader() throws {
        var fragments = MP4LiveFragments()
        #expect(fragments.append([frame(0, isKeyframe: true), audio(0)]).isEmpty)
        #expect(!fragments.needsKeyframe)
        #expect(fragments.append([header, audioHeader, audio(30), frame(40), audio(50)]).isEmpty)
        #expect(fragments.needsKeyframe)
        let player = try Player(fragments.append([audio(70), frame(80, isKeyframe: true), audio(90)]))
        #expect(!fragments.needsKeyframe)
        #expect(player.video.map(\.time) == [7200] && player.audio.map(\.time) == [4320])
    }

    @Test func streamWithoutAudioHasOneTrack() throws {
        var fragments = MP4LiveFragments()
        let player = try Player(fragments.append([header, frame(0, isKeyframe: true), audio(0), frame(40)]))
        #expect(player.starts.map(\.codecs) == ["avc1.42c01e"])
        #expect(player.video.count == 2 && player.audio.isEmpty)
    }

    @Test func damagedHeadersGiveNothingOrOnlyVideo() throws {
        var fragments = MP4LiveFragments()
        let damaged = EncodedPacket(kind: .videoHeader, decodeTime: .zero, payload: [1, 66])
        #expect(fragments.append([damaged, frame(0, isKeyframe: true), frame(40)]).isEmpty)
        let noAudio = EncodedPacket(kind: .audioHeader, decodeTime: .zero, payload: [0xFF])
        let player = try Player(fragments.append([header, noAudio, frame(80, isKeyframe: true)]))
        #expect(player.starts.map(\.codecs) == ["avc1.42c01e"])
    }

    @Test func newHeaderNeedsANewStartAndTheSameOneDoesNot() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(
            fragments.append([header, frame(0, isKeyframe: true), header, frame(40), frame(80, isKeyframe: true)]))
        #expect(player.starts.count == 1 && player.video.count == 3)
        try player.take(
            fragments.append([headerWith(width: 20), frame(120), frame(160, isKeyframe: true), frame(200)]))
        #expect(player.starts.map(\.size.width) == [640, 320])
        #expect(player.video.map(\.time) == [0, 3600, 7200, 14_400, 18_000])
    }

    @Test func audioThatIsAnnouncedLateNeedsANewStart() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, frame(0, isKeyframe: true), audioHeader, frame(40)]))
        #expect(fragments.needsKeyframe && player.video.count == 1)
        try player.take(fragments.append([frame(80, isKeyframe: true)]))
        #expect(player.starts.map(\.codecs) == ["avc1.42c01e", "avc1.42c01e,mp4a.40.2"])
    }

    @Test func timeGoesOnOverStreamsAndSampleRates() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(
            fragments.append([header, audioHeader, frame(1000, isKeyframe: true), audio(1000), audio(1021)]))
        fragments.streamEnded()
        #expect(fragments.append([frame(1500, isKeyframe: true), audio(1500)]).isEmpty)
        let other = EncodedPacket(kind: .audioHeader, decodeTime: .zero, payload: [0x12, 0x10])  // 44.1 kHz
        try player.take(
            fragments.append([header, other, frame(2000, isKeyframe: true), audio(2000), frame(2040), audio(2023)]))
        #expect(player.starts.count == 2)
        #expect(player.video.map(\.time) == [90_000, 180_000, 183_600])
        #expect(player.audio.map(\.time) == [48_000, 49_024, 88_200, 89_224])
        // Both tracks start again with the keyframe.
        #expect(player.video.allSatisfy { $0.decodeTime == $0.time })
        #expect(player.audio.allSatisfy { $0.decodeTime == $0.time })
    }

    /// A gap in the audio alone would make players wait for the next keyframe.
    @Test func startWithoutAGapInTheVideoKeepsTheAudioTogether() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, audioHeader, frame(0, isKeyframe: true), audio(0)]))
        try player.take(fragments.append([headerWith(width: 20), frame(40, isKeyframe: true)]))
        try player.take(fragments.append([audio(300)]))
        #expect(player.starts.count == 2 && player.audio.map(\.time) == [0, 14_400])
        #expect(Player.isContinuous(player.video) && Player.isContinuous(player.audio))
    }

    // MARK: Fragments

    @Test func eachFrameTakesTheAudioThatWaitedAndTheRestFollows() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, audioHeader, frame(0, isKeyframe: true)]))
        #expect(player.fragmentCount == 1)
        try player.take(fragments.append([audio(0), audio(21), frame(40), audio(43)]))
        #expect(player.fragmentCount == 3)
        #expect(player.audio.map(\.time) == [0, 1024, 2048])
    }

    @Test func everySampleComesAtItsTimeWithItsBytes() throws {
        let packets = SampleRecording().packets(frames: 100)
        var random = SeededGenerator(seed: 3)
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, audioHeader]))
        var rest = packets[...]
        while !rest.isEmpty {
            let part = rest.prefix(Int.random(in: 1...5, using: &random))
            rest = rest.dropFirst(part.count)
            try player.take(fragments.append(Array(part)))
        }
        let (frames, sounds) = (packets.filter(\.isVideo), packets.filter { !$0.isVideo })
        #expect(player.video.map(\.payload) == frames.map(\.payload))
        let ticks = frames.map { frame -> Int64 in frame.decodeTime.nanoseconds / 1000 * 9 / 100 }
        #expect(player.video.map(\.time) == ticks)
        // Audio before the first keyframe, which is at the file's start, does not exist.
        #expect(player.audio.map(\.payload) == sounds.map(\.payload))
        for (shown, packet) in zip(player.audio, sounds) {
            let time: Double = Double(shown.time) / 48_000
            let sentTime: Double = Double(packet.decodeTime.nanoseconds) / 1e9
            #expect(abs(time - sentTime) < 0.001)
        }
        #expect(Player.isContinuous(player.video) && Player.isContinuous(player.audio))
        #expect(player.video.dropFirst().allSatisfy { $0.duration == 3600 })
    }

    // MARK: Times

    /// Skipped frames, halved and doubled frame rates, and a camera that was away for seconds.
    @Test func lateFramesAreShownAtTheirTimeWithoutADiscontinuity() throws {
        let times: [Int64] = [0, 33, 67, 200, 233, 267, 333, 400, 467, 500, 533, 5533, 5567, 5600, 5633, 9000, 9001]
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, frame(times[0], isKeyframe: true)]))
        for time in times.dropFirst() { try player.take(fragments.append([frame(time)])) }
        #expect(player.video.map(\.time) == times.map { $0 * 90 })
        #expect(Player.isContinuous(player.video))
        #expect(player.video.allSatisfy { $0.decodeTime <= $0.time })
        #expect(!fragments.needsKeyframe)
    }

    @Test func decodeTimesCatchUpAfterALateFrame() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, frame(0, isKeyframe: true)]))
        let times = [40, 1040] + (Int64(1)...40).map { 1040 + 40 * $0 }
        for time in times { try player.take(fragments.append([frame(time)])) }
        #expect(player.video[2].decodeTime < player.video[2].time)
        #expect(player.video.last?.decodeTime == player.video.last?.time)
    }

    @Test func audioGapIsNoDiscontinuityEither() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, audioHeader, frame(0, isKeyframe: true)]))
        for time in [Int64(0), 21, 43, 500, 521, 543] { try player.take(fragments.append([audio(time)])) }
        try player.take(fragments.append([audio(800), audio(821), audio(1200)]))
        #expect(player.audio.map(\.time) == [0, 1024, 2048, 24_000, 25_024, 26_048, 38_400, 39_424, 57_600])
        #expect(Player.isContinuous(player.audio))
    }

    @Test func longJumpWaitsForAKeyframe() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, frame(0, isKeyframe: true), frame(40)]))
        try player.take(fragments.append([frame(20_000)]))
        #expect(fragments.needsKeyframe && player.video.last?.decodeTime == 1_800_000)
        try player.take(fragments.append([frame(20_040, isKeyframe: true)]))
        #expect(!fragments.needsKeyframe)
    }

    @Test func timesThatGoBackwardsFollowDirectly() throws {
        var fragments = MP4LiveFragments()
        var player = try Player(fragments.append([header, audioHeader, frame(1000, isKeyframe: true), audio(1000)]))
        try player.take(fragments.append([frame(900), audio(500), frame(900), audio(501), frame(1033)]))
        #expect(player.video.map(\.time) == [90_000, 90_001, 90_002, 92_970])
        #expect(player.audio.map(\.time) == [48_000, 48_001, 48_002])
    }

    @Test func extremeTimesAndSizesNeverTrap() {
        var random = SeededGenerator(seed: 9)
        var fragments = MP4LiveFragments()
        _ = fragments.append([header, audioHeader])
        for _ in 0..<5000 {
            var packet = Bool.random(using: &random) ? audio(0) : frame(0, isKeyframe: Bool.random(using: &random))
            packet.decodeTime.nanoseconds = Int64.random(in: .min ... .max, using: &random)
            packet.payload = random.bytes(Int.random(in: 0...3, using: &random))
            _ = fragments.append([packet])
        }
    }
}
