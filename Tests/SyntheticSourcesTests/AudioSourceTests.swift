import DevicePorts
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import Testing

@testable import SyntheticSources

@Suite struct AudioSourceTests {
    private let stop: EventFD
    private let directory: TemporaryDirectory
    private static let rates = [8000, 11_025, 16_000, 22_050, 44_100, 48_000]

    init() throws {
        stop = try EventFD()
        directory = try TemporaryDirectory()
    }

    @Test(arguments: rates)
    func toneHasNoJumps(rate: Int) {
        let tone = ToneSource(sampleRate: rate, stop: stop)
        var samples: [Int16] = []
        var first = 0
        while first < 2 * rate + rate / 5 {
            samples += tone.samples(from: first, frameCount: 1000)
            first += 1000
        }
        // At -20 dBFS and 1 kHz, the slope is at most 2 pi f A per second. At the beep's end, part of a period may be missing.
        let limit = Int(3 * 2 * Double.pi * 1000 * 3277 / Double(rate))
        let left = stride(from: 0, to: samples.count, by: 2).map { Int(samples[$0]) }
        let right = stride(from: 1, to: samples.count, by: 2).map { Int(samples[$0]) }
        #expect(left == right)
        #expect(zip(left, left.dropFirst()).allSatisfy { abs($0 - $1) <= limit })
        #expect((3100...3277).contains(left.max() ?? 0))
        #expect(Array(left[rate..<2 * rate]) == Array(left[..<rate]))
        // Whole periods: the second ends where it started.
        #expect(abs(left[rate - 1] - left[rate]) <= limit / 3)
    }

    @Test func blocksOfAnyLengthAreContinuous() {
        let tone = ToneSource(sampleRate: 8000, stop: stop)
        let whole = tone.samples(from: 0, frameCount: 20_000)
        var parts: [Int16] = []
        for count in [1, 1023, 7000, 1, 11_975] { parts += tone.samples(from: parts.count / 2, frameCount: count) }
        #expect(parts == whole)
    }

    @Test func timestampsDoNotDrift() {
        var clock = SampleClock(sampleRate: 44_100)
        let start = clock.take(0).time
        for block in 0..<10_000 {
            let (first, time) = clock.take(1024)
            #expect(first == 1024 * block)
            let exact = Double(1024 * block) / 44_100 * 1e9
            #expect(abs(Double((time - start).wholeNanoseconds) - exact) <= 1.01)
        }
    }

    @Test func timestampsLastForAYear() {
        var clock = SampleClock(sampleRate: 48_000)
        let start = clock.take(48_000 * 86_400 * 365 + 24_000).time
        #expect(clock.now - start == .seconds(86_400 * 365) + .milliseconds(500))
    }

    @Test func sourcesArePacedByTheClock() throws {
        try VirtualTime().run {
            let silence = SilenceSource(format: AudioFormat(sampleRate: 48_000, channelCount: 1), stop: stop)
            let tone = ToneSource(sampleRate: 48_000, stop: stop)
            for source in [silence, tone] as [any AudioSource] {
                let first = try #require(try source.nextBlock(frameCount: 480))
                #expect(MonotonicClock.now() >= first.captureTime + .milliseconds(10))
                let second = try #require(try source.nextBlock(frameCount: 480))
                #expect(second.captureTime - first.captureTime == .milliseconds(10))
                #expect(second.samples.count == 480 * source.format.channelCount)
            }
            #expect(try silence.nextBlock(frameCount: 100)?.samples == [Int16](repeating: 0, count: 100))
            stop.signal()
            // Without the stop, this block would take an hour.
            for source in [silence, tone] as [any AudioSource] {
                #expect(try source.nextBlock(frameCount: 48_000 * 3600) == nil)
                #expect(source.endingNote == nil)
            }
        }
    }
}

@Suite struct RawAudioInputTests {
    private let stop: EventFD
    private let directory: TemporaryDirectory
    private let format = RawAudioFormat(sampleRate: 44_100, channelCount: 2)

    init() throws {
        stop = try EventFD()
        directory = try TemporaryDirectory()
    }

    private func samples(_ count: Int) -> [Int16] { (0..<count).map { Int16(truncatingIfNeeded: $0 &* 7919) } }

    private func bytes(_ samples: [Int16]) -> [UInt8] {
        samples.flatMap { sample -> [UInt8] in
            [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
    }

    private func all(_ source: RawAudioInput) throws -> [AudioBlock] {
        var blocks: [AudioBlock] = []
        while let block = try source.nextBlock(frameCount: 100) { blocks.append(block) }
        return blocks
    }

    @Test func filePlaysAtItsRate() throws {
        try VirtualTime().run {
            let samples = samples(2 * 950)
            let path = try directory.write(bytes(samples) + [1, 2, 3], to: "a.pcm")
            let source = try RawAudioInput(path: path, format: format, stop: stop)
            let blocks = try all(source)
            #expect(blocks.flatMap(\.samples) == samples)
            let start = try #require(blocks.first?.captureTime)
            let offsets = blocks.map { ($0.captureTime - start).wholeNanoseconds }
            let exact = (0..<10).map { Int64(100 * $0) * 1_000_000_000 / 44_100 }
            #expect(offsets == exact)
            #expect(MonotonicClock.now() >= start + .nanoseconds(950 * 1_000_000_000 / 44_100))
            #expect(source.endingNote == "\(path) ended after 950 samples; 3 of 4 bytes of another one are left out")
            #expect(try source.nextBlock(frameCount: 100) == nil)
        }
    }

    /// With several sources, only the first one is asked at once.
    @Test func fileStartsTogetherWithOtherSources() throws {
        try VirtualTime().run {
            let samples = samples(2 * 300)
            let path = try directory.write(bytes(samples), to: "a.pcm")
            let source = try RawAudioInput(path: path, format: format, stop: stop)
            let start = MonotonicClock.now() - .milliseconds(30)
            source.start(at: start)
            let blocks = try all(source)
            #expect(blocks.map { $0.captureTime - start } == (0..<3).map { .ofFrames(100 * $0, sampleRate: 44_100) })
            #expect(blocks.flatMap(\.samples) == samples, "what is late is caught up with")
            let tone = ToneSource(sampleRate: 44_100, stop: stop)
            tone.start(at: start)
            #expect(try tone.nextBlock(frameCount: 100)?.captureTime == start)
        }
    }

    /// 5.1 in 32 bits, plus half a frame.
    @Test func manyChannelsBecomeStereo() throws {
        let path = try directory.write([UInt8](repeating: 0, count: 24 * 950 + 12), to: "a.pcm")
        let format = RawAudioFormat(sample: .s32le, sampleRate: 192_000, channelCount: 6)
        let source = try RawAudioInput(path: path, format: format, stop: stop)
        #expect(source.format == AudioFormat(sampleRate: 192_000, channelCount: 2))
        #expect(try all(source).flatMap(\.samples) == [Int16](repeating: 0, count: 1900))
        #expect(source.endingNote == "\(path) ended after 950 samples; 12 of 24 bytes of another one are left out")
    }

    @Test func fifoWaitsForItsWriter() throws {
        try VirtualTime().run {
            let path = try directory.makeFIFO("fifo")
            let source = try RawAudioInput(path: path, format: format, stop: stop)
            let samples = samples(2 * 250)
            let stream = bytes(samples)
            let before = MonotonicClock.now()
            try write([Array(stream[..<3]), Array(stream[3...])], toFIFO: path)
            let blocks = try all(source)
            #expect(blocks.flatMap(\.samples) == samples)
            #expect(blocks.map(\.samples.count) == [200, 200, 100])
            #expect(blocks.allSatisfy { $0.captureTime >= before && $0.captureTime <= MonotonicClock.now() })
            #expect(source.endingNote == "\(path) ended after 250 samples")
        }
    }

    @Test func pipeWrittenAtOncePlaysAtItsRate() throws {
        try VirtualTime().run {
            let path = try directory.makeFIFO("fifo")
            let source = try RawAudioInput(path: path, format: format, stop: stop)
            let samples = samples(2 * 2000)
            try write([bytes(samples)], toFIFO: path)
            let blocks = try all(source)
            #expect(blocks.flatMap(\.samples) == samples)
            let start = try #require(blocks.first?.captureTime)
            let length = Duration.ofFrames(100, sampleRate: 44_100)
            #expect(blocks.map { $0.captureTime - start } == (0..<20).map { length * $0 })
            #expect(MonotonicClock.now() >= start + length * 19)
        }
    }

    @Test func pipeWithoutDataIsSilent() throws {
        try VirtualTime().run {
            let path = try directory.makeFIFO("fifo")
            let source = try RawAudioInput(path: path, format: format, stop: stop)
            let writer = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_NONBLOCK)
            let audio = samples(2 * 200).map { $0 | 1 }
            try writer.writeAll(Array(bytes(audio)[..<500]))
            let first = try #require(try source.nextBlock(frameCount: 100))
            #expect(first.samples == Array(audio[..<200]))
            let pause = try #require(try source.nextBlock(frameCount: 100))
            let more = try #require(try source.nextBlock(frameCount: 100))
            #expect(pause.samples + more.samples == [Int16](repeating: 0, count: 400))
            #expect(pause.captureTime - first.captureTime >= .milliseconds(199))
            #expect(more.captureTime - pause.captureTime == .nanoseconds(100 * 1_000_000_000 / 44_100))
            try writer.writeAll(Array(bytes(audio)[500...]))
            var last = more.samples
            var lastTime = more.captureTime
            while last.allSatisfy({ $0 == 0 }) {
                let block = try #require(try source.nextBlock(frameCount: 100))
                #expect(block.captureTime > lastTime, "what came before the pause follows its silence")
                (last, lastTime) = (block.samples, block.captureTime)
            }
            #expect(last == Array(audio[200...]), "what had come of it before was kept")
        }
    }

    @Test func incompleteInputIsAnError() throws {
        let fifo = try directory.makeFIFO("fifo")
        let source = try RawAudioInput(path: fifo, format: format, stop: stop)
        try write([[1, 2, 3]], toFIFO: fifo)
        #expect(throws: SourceError.tooShort(path: fifo, byteCount: 3, needed: 4)) {
            try source.nextBlock(frameCount: 100)
        }
        let file = try directory.write([1, 2, 3], to: "short.pcm")
        #expect(throws: SourceError.tooShort(path: file, byteCount: 3, needed: 4)) {
            try RawAudioInput(path: file, format: format, stop: stop)
        }
    }

    @Test func reportsWhyAFileCannotBeOpened() throws {
        let missing = directory.file("none.pcm")
        #expect(
            throws: SourceError.cannotRead(path: missing, SystemCallError("open", number: ENOENT, subject: missing))
        ) {
            try RawAudioInput(path: missing, format: format, stop: stop)
        }
        #expect(throws: SourceError.cannotRead(path: directory.path, SystemCallError("read", number: EISDIR))) {
            try RawAudioInput(path: directory.path, format: format, stop: stop)
        }
    }

    @Test func stopEndsTheWait() throws {
        let source = try RawAudioInput(path: try directory.makeFIFO("fifo"), format: format, stop: stop)
        let stop = stop
        _ = try NamedThread("stop") { stop.signal() }
        #expect(try source.nextBlock(frameCount: 100) == nil)
        #expect(source.endingNote == nil)
    }
}
