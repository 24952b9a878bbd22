import Bitstream
import Media
import SeededNumbers
import Testing

@testable import RecordingLogic

enum SampleHeaders {
    static let large: [UInt8] = header(sps: [
        0x67, 0x42, 0xC0, 0x1E, 0x8C, 0x68, 0x0A, 0x03, 0xDA, 0x01, 0xE1, 0x10, 0x8D, 0x40,
    ])
    /// The same with another PPS.
    static let other: [UInt8] = Array(large.dropLast()) + [0x40]
    static let audio: [UInt8] = [0x11, 0x90]

    private static func header(sps: [UInt8]) -> [UInt8] {
        [1, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0, UInt8(sps.count)] + sps + [1, 0, 4, 0x68, 0xCE, 0x3C, 0x80]
    }
}

@Suite struct RecordingAssemblerTests {
    private var assembler = RecordingAssembler(hasVideo: true, hasAudio: true, length: .seconds(10))
    private var words: [String] = []

    /// Frames of 40 ms with a keyframe each second, and audio of 20 ms.
    private mutating func record(_ times: Range<Int64>, isAudible: Bool = true) {
        for time in stride(from: times.lowerBound, to: times.upperBound, by: 20) {
            if time % 40 == 0 { add(.packet(.frame(time, isKeyframe: time % 1000 == 0))) }
            if isAudible { add(.packet(.sound(time + 10))) }
        }
    }

    private mutating func add(_ item: RecordingBuffer.Item) { note(assembler.add(item, clock: nil)) }

    private mutating func note(_ actions: [RecordingAssembler.Action]) {
        for action in actions {
            switch action {
            case .create(let start, _): words.append("create \(start.nanoseconds / 1_000_000)")
            case .append: words.append("append")
            case .finish(_, let file):
                words.append(
                    "finish \(file.start.nanoseconds / 1_000_000)-\(file.end.nanoseconds / 1_000_000): "
                        + "\(file.frameCount)+\(file.audioPacketCount)")
            case .refuse: words.append("refuse")
            }
        }
    }

    private mutating func headers() {
        add(.packet(.header(.videoHeader, SampleHeaders.large)))
        add(.packet(.header(.audioHeader, SampleHeaders.audio)))
    }

    @Test mutating func fileIsCutAtTheKeyframeAfterItsLength() {
        headers()
        record(400..<12_400)
        note(assembler.end(clock: nil))
        let appends = [String](repeating: "append", count: 10)
        // Frames from before the first keyframe are in no file.
        #expect(
            words == ["create 1000"] + appends + [
                "finish 1000-10990: 250+500", "create 11000", "append", "append", "finish 11000-12390: 35+70",
            ])
        #expect(assembler.heldByteCount == 0)
    }

    @Test mutating func lateAudioIsInTheFileOfItsTime() {
        headers()
        var audio: [EncodedPacket] = []
        for time in stride(from: Int64(0), to: 10_400, by: 40) {
            add(.packet(.frame(time, isKeyframe: time % 1000 == 0)))
            audio += [.sound(time + 10), .sound(time + 30)]
            // Audio is 300 ms behind.
            while audio.count > 15 { add(.packet(audio.removeFirst())) }
        }
        note(assembler.end(clock: nil))
        #expect(words.filter { $0.hasPrefix("finish") } == ["finish 0-9990: 250+500", "finish 10000-10360: 10+5"])
    }

    @Test mutating func newHeadersStartANewFile() {
        headers()
        record(0..<2000)
        add(.packet(.header(.videoHeader, SampleHeaders.large)))
        record(2000..<3000)
        add(.packet(.header(.videoHeader, SampleHeaders.other)))
        record(3000..<4000)
        note(assembler.end(clock: nil))
        #expect(
            words.filter { $0 != "append" } == [
                "create 0", "finish 0-2990: 75+150", "create 3000", "finish 3000-3990: 25+50",
            ])
    }

    @Test mutating func epochAndGapStartANewFile() {
        headers()
        record(0..<1400)
        add(.newFile)
        record(1400..<3400)
        note(assembler.end(clock: nil))
        #expect(
            words.filter { $0 != "append" } == [
                "create 0", "finish 0-1990: 35+100", "create 2000", "finish 2000-3390: 35+70",
            ])
    }

    @Test mutating func fileEndsAtOnceWhenPacketsAreDropped() {
        headers()
        record(0..<1400)
        add(.gap)
        #expect(words.last == "finish 0-1390: 35+70" && assembler.heldByteCount == 0)
        record(1400..<2400)
        #expect(words.last == "create 2000")
    }

    @Test mutating func audioThatComesLaterStartsANewFile() {
        add(.packet(.header(.videoHeader, SampleHeaders.large)))
        record(0..<2400, isAudible: false)
        add(.packet(.header(.audioHeader, SampleHeaders.audio)))
        record(2400..<4000)
        note(assembler.end(clock: nil))
        #expect(
            words.filter { $0 != "append" } == [
                "create 0", "finish 0-1960: 50+0", "create 2000", "finish 2000-3990: 50+80",
            ])
    }

    @Test mutating func longAndLargeGOPsHaveSeveralFragments() {
        headers()
        for time in stride(from: Int64(0), to: 9000, by: 40) { add(.packet(.frame(time, isKeyframe: time == 0))) }
        note(assembler.end(clock: nil))
        #expect(words.count { $0 == "append" } == 2)
        words = []
        assembler = RecordingAssembler(hasVideo: true, hasAudio: false, length: .seconds(10))
        headers()
        for number in 0..<10 {
            add(.packet(.frame(Int64(number) * 40, isKeyframe: number == 0, byteCount: 1 << 20)))
        }
        note(assembler.end(clock: nil))
        #expect(words.count { $0 == "append" } == 3)
    }

    @Test mutating func fileEndsBeforeItIsTooLarge() {
        assembler = RecordingAssembler(hasVideo: true, hasAudio: false, length: .seconds(3600), largestFile: 40_000)
        headers()
        record(0..<4000, isAudible: false)
        note(assembler.end(clock: nil))
        #expect(words.count { $0.hasPrefix("create") } == 2)
    }

    @Test mutating func audioAloneIsCutAnywhere() {
        assembler = RecordingAssembler(hasVideo: false, hasAudio: true, length: .seconds(10))
        add(.packet(.header(.audioHeader, SampleHeaders.audio)))
        for time in stride(from: Int64(0), to: 12_000, by: 20) { add(.packet(.sound(time))) }
        note(assembler.end(clock: nil))
        #expect(
            words.filter { $0 != "append" } == [
                "create 0", "finish 0-9980: 0+500", "create 10000", "finish 10000-11980: 0+100",
            ])
    }

    @Test mutating func failedFileIsFollowedByOneAtTheNextKeyframe() {
        headers()
        record(0..<1400)
        assembler.fileFailed()
        record(1400..<2400)
        note(assembler.end(clock: nil))
        #expect(words.filter { $0 != "append" } == ["create 0", "create 2000", "finish 2000-2390: 10+20"])
    }

    @Test mutating func unusableHeadersAreRefusedOnce() {
        add(.packet(.header(.videoHeader, [1, 2, 3])))
        record(0..<3000)
        #expect(words == ["refuse"])
        add(.packet(.header(.videoHeader, SampleHeaders.large)))
        record(3000..<3400)
        #expect(words == ["refuse", "create 3000"])
    }
}
