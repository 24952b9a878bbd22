import Media
import SeededNumbers
import StreamQuality
import Testing

/// Random encoders on random links. These properties always hold.
@Suite struct SendBufferPropertyTests {
    private struct Run {
        var buffer: SendBuffer
        var script: MediaScript
        var checker = ReferenceChecker()
        var kernel: [Int] = []
        var appended = 0
        var taken: [EncodedPacket] = []
        var dropped: [DroppedItem] = []
        var wantsKeyframe = false
        var thresholdCrossings: [SendBufferEvent] = []

        /// Frames that are no longer waiting.
        var settledFrameCount: Int {
            let kinds = taken.map(\.kind) + dropped.map(\.kind)
            return kinds.count { if case .video = $0 { true } else { false } }
        }

        mutating func heard(_ events: [SendBufferEvent]) {
            for event in events {
                switch event {
                case .droppedItems(let items): dropped += items
                case .keyframeNeeded: wantsKeyframe = true
                case .roseAboveHigh, .fellBelowLow: thresholdCrossings.append(event)
                default: break
                }
            }
        }

        mutating func append(_ packet: EncodedPacket, now: MediaTimestamp) {
            appended += 1
            heard(buffer.append(packet, now: now))
        }

        /// The kernel sends `budget` bytes and accepts packets while it holds less than 16 kB.
        mutating func send(_ budget: Int, now: MediaTimestamp) {
            var budget = budget
            while kernel.reduce(0, +) < 16_000, let packet = buffer.takeNext() {
                taken.append(packet)
                checker.received(packet)
                kernel.append(packet.payload.count + 14)
            }
            while budget > 0, let first = kernel.first {
                let sent = min(budget, first)
                budget -= sent
                if sent == first { kernel.removeFirst() } else { kernel[0] = first - sent }
            }
            heard(buffer.kernelQueueMeasured(unsentBytes: kernel.reduce(0, +), now: now))
        }
    }

    @Test(arguments: 0..<30)
    func randomLinks(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let maxDuration = Duration.milliseconds(Int.random(in: 1_000...5_000, using: &random))
        let limits = try SendBufferLimits(maxDuration: maxDuration)
        let interval = Int.random(in: 5...120, using: &random)
        var run = Run(buffer: SendBuffer(.target(limits)), script: MediaScript(keyframeInterval: interval))
        let hasAudio = Bool.random(using: &random)
        var capacity = 0
        var longest = Duration.zero
        run.append(MediaScript.videoHeader, now: .zero)
        if hasAudio { run.append(MediaScript.audioHeader, now: .zero) }
        for step in 0..<1_500 {
            let now = run.script.videoTime
            if step % 50 == 0 { capacity = Bool.random(using: &random) ? 0 : Int.random(in: 0...6_000, using: &random) }
            if Int.random(in: 0..<20, using: &random) > 0 {
                let key = run.wantsKeyframe && Bool.random(using: &random)
                run.wantsKeyframe = run.wantsKeyframe && !key
                run.append(run.script.frame(key: key, byteCount: Int.random(in: 4...6_000, using: &random)), now: now)
            }
            while hasAudio, run.script.audioTime < run.script.videoTime { run.append(run.script.audio(), now: now) }
            if Int.random(in: 0..<400, using: &random) == 0 { run.heard(run.buffer.discardWaitingVideo(now: now)) }
            run.send(capacity, now: now)
            longest = max(longest, run.buffer.duration)
        }
        #expect(run.buffer.waitingFrameCount == run.script.frameNumber - run.settledFrameCount)
        while let packet = run.buffer.takeNext() {
            run.taken.append(packet)
            run.checker.received(packet)
        }
        #expect(
            longest <= maxDuration + (hasAudio ? .milliseconds(250) : .zero), "audio has a quarter of a second of grace"
        )
        #expect(run.checker.danglingCount == 0)
        #expect(run.taken.count + run.dropped.count == run.appended, "each packet once, sent or reported as dropped")
        #expect(run.buffer.waitingByteCount == 0)
        #expect(run.dropped.allSatisfy { $0.kind != .videoHeader && $0.kind != .audioHeader })
        for kind in [true, false] {
            let times = run.taken.filter { $0.isVideo == kind }.map(\.decodeTime)
            #expect(times == times.sorted())
        }
        for (first, second) in zip(run.thresholdCrossings, run.thresholdCrossings.dropFirst())
        where first == .roseAboveHigh {
            #expect(second == .fellBelowLow || second == .roseAboveHigh)
        }
    }

    /// If the work grew with the queue, this would take 20 billion steps.
    @Test func longQueueStaysCheap() {
        var buffer = SendBuffer()
        var script = MediaScript(frameDuration: .microseconds(10), keyframeInterval: 1_000_000)
        for _ in 0..<200_000 { _ = buffer.append(script.frame(byteCount: 4), now: .zero) }
        var count = 0
        while buffer.takeNext() != nil { count += 1 }
        #expect(count == 200_000)
    }
}
