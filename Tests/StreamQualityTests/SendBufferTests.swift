import Media
import StreamQuality
import Testing

@Suite struct SendBufferTests {
    private let time = MediaScript.time

    private func drops(_ events: [SendBufferEvent]) -> [DroppedItem] {
        events.flatMap { event -> [DroppedItem] in
            if case .droppedItems(let items) = event { return items }
            return []
        }
    }

    /// All events except changes of the duration and drops.
    private func marks(_ events: [SendBufferEvent]) -> [SendBufferEvent] {
        events.filter { event in
            switch event {
            case .durationChanged, .droppedItems: false
            default: true
            }
        }
    }

    /// Appends frames up to `seconds` of media and returns the events.
    private func fill(
        _ buffer: inout SendBuffer, from script: inout MediaScript, until seconds: Double
    ) -> [SendBufferEvent] {
        var events: [SendBufferEvent] = []
        while script.videoTime <= time(seconds) {
            let now = script.videoTime
            events += buffer.append(script.frame(), now: now)
        }
        return events
    }

    private func takeAll(_ buffer: inout SendBuffer) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while let packet = buffer.takeNext() { packets.append(packet) }
        return packets
    }

    @Test func packetsLeaveInOrder() {
        var buffer = SendBuffer()
        var script = MediaScript()
        var sent = [MediaScript.videoHeader, MediaScript.audioHeader]
        for _ in 0..<10 { sent += [script.frame(), script.audio(), script.audio()] }
        for packet in sent { _ = buffer.append(packet, now: packet.decodeTime) }
        let taken = takeAll(&buffer)
        #expect(taken.map(\.kind) == sent.map(\.kind))
        #expect(taken.map(\.payload) == sent.map(\.payload))
        #expect(buffer.takeNext() == nil)
    }

    @Test func durationCoversTheBufferAndTheKernel() {
        var buffer = SendBuffer()
        var script = MediaScript()
        _ = fill(&buffer, from: &script, until: 1)
        #expect(buffer.duration == .seconds(1))
        for _ in 0..<10 { _ = buffer.takeNext() }
        #expect(buffer.duration == .seconds(1), "handed out is not sent yet")
        _ = buffer.kernelQueueMeasured(unsentBytes: 2_500, now: time(1))
        // The first frame has no predecessor and so no duration; the kernel holds frames 8, 9 and half of 7.
        #expect(buffer.duration == .milliseconds(1_000 - 6 * 40))
        _ = buffer.kernelQueueMeasured(unsentBytes: 0, now: time(1))
        #expect(buffer.duration == .milliseconds(1_000 - 9 * 40))
    }

    @Test func deliveryDelayCoversUnacknowledgedData() {
        var buffer = SendBuffer()
        var script = MediaScript()
        _ = fill(&buffer, from: &script, until: 1)
        _ = takeAll(&buffer)
        _ = buffer.kernelQueueMeasured(unsentBytes: 0, unacknowledgedBytes: 5_000, now: time(1))
        #expect(buffer.duration == .zero)
        #expect(buffer.deliveryDelay == .milliseconds(200))
        #expect(buffer.deliveredByteCount == 26 * 1_014 - 5_000)
        _ = buffer.kernelQueueMeasured(unsentBytes: 0, unacknowledgedBytes: 0, now: time(1))
        #expect(buffer.deliveredByteCount == 26 * 1_014)
        #expect(buffer.undeliveredByteCount == 0)
    }

    @Test func audioAloneHasADuration() {
        var buffer = SendBuffer()
        var script = MediaScript()
        for _ in 0...50 { _ = buffer.append(script.audio(), now: .zero) }
        #expect(buffer.duration == .seconds(1))
    }

    @Test func eachThresholdCrossingIsReportedOnce() {
        var buffer = SendBuffer()
        var script = MediaScript(keyframeInterval: 1_000)
        #expect(marks(fill(&buffer, from: &script, until: 2.36)) == [])
        #expect(marks(fill(&buffer, from: &script, until: 2.4)) == [.roseAboveHigh])
        // Near the threshold no further events occur.
        for _ in 0..<20 {
            _ = buffer.takeNext()
            let events = buffer.kernelQueueMeasured(unsentBytes: 0, now: script.videoTime)
            #expect(marks(events + buffer.append(script.frame(), now: script.videoTime)) == [])
        }
        var events: [SendBufferEvent] = []
        while buffer.takeNext() != nil {
            events += buffer.kernelQueueMeasured(unsentBytes: 0, now: script.videoTime)
        }
        #expect(marks(events) == [.fellBelowLow, .empty])
        // A good link: every frame passes through without an event.
        events = []
        for _ in 0..<20 {
            events += buffer.append(script.frame(), now: script.videoTime)
            _ = buffer.takeNext()
            events += buffer.kernelQueueMeasured(unsentBytes: 0, now: script.videoTime)
        }
        #expect(events == [])
    }

    @Test func durationIsReportedInTenths() {
        var buffer = SendBuffer()
        var script = MediaScript()
        let reported = fill(&buffer, from: &script, until: 0.4)
        #expect(reported == [120, 240, 360].map { .durationChanged(.milliseconds($0)) })
    }

    @Test func fullBufferDropsEverythingBeforeTheNewestKeyframe() {
        var buffer = SendBuffer()
        var script = MediaScript()  // a GOP is 2 s
        _ = fill(&buffer, from: &script, until: 1)
        let sent = (0..<10).compactMap { _ in buffer.takeNext() }
        _ = buffer.kernelQueueMeasured(unsentBytes: 0, now: time(1))
        let events = fill(&buffer, from: &script, until: 3.44)
        #expect(events.filter { $0 == .full }.count == 1)
        #expect(!events.contains(.keyframeNeeded), "one waits")
        let dropped = drops(events)
        #expect(dropped.map(\.decodeTime) == (10..<50).map { .zero + .milliseconds(40 * $0) })
        #expect(dropped.allSatisfy { $0.reason == .bufferFull && $0.byteCount == 1_000 })
        let rest = takeAll(&buffer)
        #expect(rest.first?.number == 50)
        #expect(rest.first?.kind == .video(isKeyframe: true))
        #expect(rest.count + sent.count + dropped.count == script.frameNumber)
    }

    @Test func fullBufferWithoutAKeyframeDropsAllAndRequestsOne() {
        var buffer = SendBuffer()
        var script = MediaScript(keyframeInterval: 1_000)
        _ = buffer.append(script.frame(), now: .zero)
        _ = buffer.takeNext()
        _ = buffer.kernelQueueMeasured(unsentBytes: 0, now: .zero)
        let events = fill(&buffer, from: &script, until: 3.08)
        #expect(marks(events) == [.roseAboveHigh, .full, .keyframeNeeded, .fellBelowLow, .empty])
        #expect(drops(events).map(\.reason) == Array(repeating: .bufferFull, count: 77))
        #expect(buffer.takeNext() == nil)
        // The rest of the old GOP is refused, and the request is repeated each second.
        var refused: [SendBufferEvent] = []
        for _ in 0..<50 { refused += buffer.append(script.frame(), now: script.videoTime) }
        #expect(drops(refused).map(\.reason) == Array(repeating: .awaitingKeyframe, count: 50))
        #expect(marks(refused) == [.keyframeNeeded, .keyframeNeeded], "2 s of frames")
        // Audio continues meanwhile.
        _ = buffer.append(script.audio(), now: script.videoTime)
        #expect(buffer.takeNext()?.kind == .audio)
        let next = script.frame(key: true)
        #expect(drops(buffer.append(next, now: script.videoTime)) == [])
        #expect(buffer.takeNext()?.number == next.number)
    }

    @Test func audioIsDroppedLastAndOldestFirst() {
        var buffer = SendBuffer()
        var script = MediaScript()
        var events: [SendBufferEvent] = []
        while script.videoTime <= time(10) {
            events += buffer.append(script.frame(), now: script.videoTime)
            while script.audioTime < script.videoTime {
                events += buffer.append(script.audio(), now: script.videoTime)
            }
        }
        let dropped = drops(events)
        let firstAudio = dropped.firstIndex { $0.kind == .audio }
        let firstVideo = dropped.firstIndex { $0.kind != .audio }
        #expect(firstVideo ?? .max < firstAudio ?? .max)
        let audio = dropped.filter { $0.kind == .audio }.map(\.decodeTime)
        #expect(audio == audio.indices.map { .zero + .milliseconds(20 * $0) })
        #expect(events.filter { $0 == .full }.count == 1, "it stays full")
        #expect(buffer.duration <= .milliseconds(3_250))
    }

    @Test func sequenceHeadersSurviveEveryDrop() {
        var buffer = SendBuffer()
        var script = MediaScript(keyframeInterval: 25)
        _ = buffer.append(MediaScript.videoHeader, now: .zero)
        _ = buffer.append(MediaScript.audioHeader, now: .zero)
        for _ in 0..<200 { _ = buffer.append(script.frame(), now: script.videoTime) }
        _ = buffer.append(MediaScript.videoHeader, now: script.videoTime)
        for _ in 0..<400 {
            _ = buffer.append(script.frame(), now: script.videoTime)
            _ = buffer.append(script.audio(), now: script.videoTime)
            _ = buffer.append(script.audio(), now: script.videoTime)
        }
        _ = buffer.discardWaitingVideo(now: script.videoTime)
        let kinds = takeAll(&buffer).map(\.kind)
        #expect(kinds.filter { $0 == .videoHeader }.count == 2)
        #expect(kinds.first { $0 == .audioHeader || $0 == .audio } == .audioHeader)
        #expect(buffer.waitingByteCount == 0)
    }

    @Test func discardKeepsAudioAndRequestsAKeyframe() {
        var buffer = SendBuffer()
        var script = MediaScript()
        _ = fill(&buffer, from: &script, until: 1)
        _ = buffer.append(script.audio(), now: time(1))
        let events = buffer.discardWaitingVideo(now: time(1))
        #expect(drops(events).count == 26)
        #expect(drops(events).allSatisfy { $0.reason == .discarded })
        #expect(marks(events).contains(.keyframeNeeded))
        #expect(takeAll(&buffer).map(\.kind) == [.audio])
        #expect(drops(buffer.append(script.frame(), now: time(1))).map(\.reason) == [.awaitingKeyframe])
    }

    @Test func discardKeepsARecentKeyframe() {
        var buffer = SendBuffer()
        var script = MediaScript()
        _ = fill(&buffer, from: &script, until: 0.4)
        let key = script.frame(key: true)
        _ = buffer.append(key, now: script.videoTime)
        let next = script.frame()
        _ = buffer.append(next, now: script.videoTime)
        let events = buffer.discardWaitingVideo(now: script.videoTime)
        #expect(drops(events).count == 11)
        #expect(!marks(events).contains(.keyframeNeeded))
        #expect(buffer.discardWaitingVideo(now: script.videoTime) == [], "it is first now")
        #expect(takeAll(&buffer).map(\.number) == [key.number, next.number])
    }

    @Test func discardOfAnEmptyBufferChangesNothing() {
        var buffer = SendBuffer()
        var script = MediaScript()
        _ = buffer.append(script.frame(), now: .zero)
        _ = buffer.takeNext()
        #expect(buffer.discardWaitingVideo(now: .zero) == [])
        _ = buffer.append(script.frame(), now: .zero)
        #expect(buffer.takeNext()?.number == 1)
    }

    @Test func newConnectionStartsWithHeadersAndAKeyframe() {
        var buffer = SendBuffer()
        var script = MediaScript()
        _ = buffer.append(MediaScript.videoHeader, now: .zero)
        _ = buffer.append(MediaScript.audioHeader, now: .zero)
        _ = fill(&buffer, from: &script, until: 1)
        for _ in 0..<10 { _ = buffer.takeNext() }
        _ = buffer.kernelQueueMeasured(unsentBytes: 3_000, now: time(1))
        let delivered = buffer.deliveredByteCount
        let headers = [MediaScript.videoHeader, MediaScript.audioHeader]
        let events = buffer.connectionOpened(headers: headers, now: time(1))
        #expect(drops(events).allSatisfy { $0.reason == .newConnection })
        #expect(events.contains(.keyframeNeeded))
        #expect(buffer.duration == .zero)
        _ = buffer.append(script.frame(), now: time(1))
        _ = buffer.append(script.audio(), now: time(1))
        _ = buffer.append(script.frame(key: true), now: time(1))
        #expect(takeAll(&buffer).map(\.kind) == [.videoHeader, .audioHeader, .audio, .video(isKeyframe: true)])
        #expect(buffer.deliveredByteCount == delivered, "what the old connection held is lost")
    }

    @Test func stuckKernelQueueDoesNotRequestAKeyframeForEachFrame() {
        var buffer = SendBuffer()
        var script = MediaScript(keyframeInterval: 1_000)
        _ = fill(&buffer, from: &script, until: 3)
        _ = takeAll(&buffer)
        var requests = 0
        for _ in 0..<100 {
            let events = buffer.append(script.frame(key: true), now: script.videoTime)
            requests += events.filter { $0 == .keyframeNeeded }.count
        }
        #expect((4...5).contains(requests), "4 s")
        // As soon as there is room, one is requested.
        #expect(buffer.kernelQueueMeasured(unsentBytes: 0, now: script.videoTime).contains(.keyframeNeeded))
    }

    @Test func gapBeforeAKeyframeIsNotDelay() {
        var buffer = SendBuffer()
        var script = MediaScript(keyframeInterval: 1_000)
        _ = fill(&buffer, from: &script, until: 1)
        _ = buffer.discardWaitingVideo(now: time(1))
        _ = fill(&buffer, from: &script, until: 2)
        _ = buffer.append(script.frame(key: true), now: time(2))
        #expect(buffer.duration == .zero)
    }

    @Test func bytesAreLimitedWhateverTheTimestampsSay() {
        var buffer = SendBuffer()
        var events: [SendBufferEvent] = []
        for index in 0..<40 {
            let packet = EncodedPacket(
                kind: .video(isKeyframe: index % 10 == 0), decodeTime: .zero,
                payload: [UInt8](repeating: 0, count: 1 << 20))
            events += buffer.append(packet, now: .zero)
            #expect(buffer.byteCount <= SendBufferLimits.maxByteCount)
        }
        #expect(events.contains(.full))
    }

    @Test func timestampsThatJumpBackDoNotBlockTheBuffer() {
        var buffer = SendBuffer()
        var script = MediaScript()
        _ = buffer.append(
            EncodedPacket(kind: .video(isKeyframe: true), decodeTime: time(1_000), payload: [0, 0, 0, 0]), now: .zero)
        _ = takeAll(&buffer)
        _ = buffer.kernelQueueMeasured(unsentBytes: 0, now: .zero)
        #expect(drops(fill(&buffer, from: &script, until: 1)) == [])
        #expect(buffer.duration == .seconds(1))
    }
}
