import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

@testable import FileSources

/// A movie's audio on a disk that does not answer.
@Suite struct ThreadedAudioTests {
    private let time = VirtualTime()
    private let stop: EventFD
    private let hang: EventFD
    private let isHanging = Hanging()
    private let events: Mailbox<ThreadedAudio.Event>
    private let path: String

    private final class Hanging: Sendable {
        let value = Mutex(false)
        let openings = Mutex(0)
    }

    /// Each block contains the number of its first frame, and is due when its last frame would have been captured.
    private final class Counter: AudioSource {
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        var endingNote: String?
        private let wait: () throws -> Void
        private var start: MediaTimestamp?
        private var count = 0

        init(wait: @escaping () throws -> Void) { self.wait = wait }

        func start(at time: MediaTimestamp) { start = time }

        func nextBlock(frameCount: Int) throws -> AudioBlock? {
            try wait()
            guard count < 48_000 * 60 else {
                endingNote = "it ended"
                return nil
            }
            let start = start ?? MonotonicClock.now()
            self.start = start
            let samples = [Int16](repeating: Int16(truncatingIfNeeded: count / frameCount), count: frameCount)
            let block = AudioBlock(samples: samples, captureTime: start + .ofFrames(count, sampleRate: 48_000))
            count += frameCount
            MonotonicClock.sleep(until: start + .ofFrames(count, sampleRate: 48_000))
            return block
        }
    }

    init() throws {
        stop = try EventFD()
        hang = try EventFD()
        events = try Mailbox()
        path = unusedNode()
    }

    private func open() throws -> ThreadedAudio {
        @Sendable func wait() throws {
            guard isHanging.value.withLock({ $0 }) else { return }
            var entries = [PollEntry(hang.fileDescriptor)]
            try poll(&entries, until: nil)
        }
        let isHanging = isHanging
        return try ThreadedAudio(path, stop: stop, notify: { [events] in events.send($0) }) {
            _ throws(FileSourceError) in
            isHanging.openings.withLock { $0 += 1 }
            try? wait()
            return Counter(wait: wait)
        }
    }

    private func reported() -> [String] {
        events.takeAll().map { event in
            switch event {
            case .interrupted: "interrupted"
            case .returned: "returned"
            }
        }
    }

    private func setHanging(_ isHanging: Bool) { self.isHanging.value.withLock { $0 = isHanging } }

    @Test func silenceTakesThePlaceOfAudioThatCannotBeRead() throws {
        try time.run {
            let audio = try open()
            let start = MonotonicClock.now()
            audio.start(at: start)
            var number = 0
            func next() throws -> AudioBlock {
                let block = try #require(try audio.nextBlock(frameCount: 480))
                #expect(block.captureTime == start + .milliseconds(10 * number))
                number += 1
                return block
            }
            for expected in 0..<100 { try #expect(try next().samples[0] == Int16(expected)) }
            setHanging(true)
            // One block may be on its way.
            _ = try next()
            for _ in 0..<500 { try #expect(try next().samples[0] == 0) }
            // Silence comes in time, after the wait for the first block.
            #expect(MonotonicClock.now() - start <= .milliseconds(10 * number) + ThreadedAudio.patience)
            #expect(reported() == ["interrupted"])
            setHanging(false)
            hang.signal()
            // Audio continues with the samples that are due.
            while true {
                let sample = try next().samples[0]
                guard sample != 0 else { continue }
                #expect(sample == Int16(number - 1))
                break
            }
            for _ in 0..<100 { try #expect(try next().samples[0] == Int16(number - 1)) }
            #expect(reported() == ["returned"])
        }
    }

    @Test func anOpeningThatHangsFailsInTimeAndIsNotRepeated() throws {
        try time.run {
            setHanging(true)
            let start = MonotonicClock.now()
            #expect(throws: FileSourceError.unanswered(.blocked(path: path, ThreadedAudio.openingTimeout))) {
                try open()
            }
            #expect(MonotonicClock.now() - start == ThreadedAudio.openingTimeout)
            #expect(throws: FileSourceError.self) { try open() }
            #expect(isHanging.openings.withLock { $0 } == 1)
            setHanging(false)
            hang.signal()
            // Its thread ends.
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10))
            _ = try open()
            #expect(isHanging.openings.withLock { $0 } == 2)
        }
    }

    @Test func theEndIsTheSourcesOwn() throws {
        try time.run {
            let audio = try open()
            while try audio.nextBlock(frameCount: 4800) != nil {}
            #expect(audio.endingNote == "it ended")
        }
    }

    @Test func aStopEndsTheWaitForABlock() throws {
        try time.run {
            let audio = try open()
            _ = try audio.nextBlock(frameCount: 480)
            setHanging(true)
            stop.signal()
            try #expect(try audio.nextBlock(frameCount: 480) == nil)
            hang.signal()
        }
    }
}
