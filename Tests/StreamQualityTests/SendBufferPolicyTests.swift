import Media
import StreamQuality
import Testing

/// Buffers of sinks other than servers.
@Suite struct SendBufferPolicyTests {
    private let time = MediaScript.time

    private func takeAll(_ buffer: inout SendBuffer) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while let packet = buffer.takeNext() { packets.append(packet) }
        return packets
    }

    private func dropped(_ events: [SendBufferEvent]) -> [DroppedItem] {
        events.flatMap { event -> [DroppedItem] in
            if case .droppedItems(let items) = event { return items }
            return []
        }
    }

    @Test func slowPreviewDropsEverythingAndRestartsAtAKeyframe() {
        var buffer = SendBuffer(.preview)
        var script = MediaScript(keyframeInterval: 1_000)
        var events = buffer.append(MediaScript.videoHeader, now: .zero)
        while !events.contains(.keyframeNeeded) {
            #expect(buffer.duration <= .seconds(1))
            events = buffer.append(script.audio(), now: script.audioTime)
            if script.videoTime <= script.audioTime { events += buffer.append(script.frame(), now: script.videoTime) }
        }
        #expect(dropped(events).contains { $0.kind == .audio } && dropped(events).contains { $0.kind.isVideo })
        #expect(script.videoTime > time(1) && script.videoTime < time(1.2))
        _ = buffer.append(script.frame(), now: script.videoTime)
        let key = script.frame(key: true)
        _ = buffer.append(key, now: script.videoTime)
        #expect(takeAll(&buffer).map(\.kind) == [.videoHeader, .video(isKeyframe: true)], "headers are never dropped")
    }

    @Test func previewReadInTimeDropsNothing() {
        var buffer = SendBuffer(.preview)
        var script = MediaScript()
        var taken = 0
        for _ in 0..<500 {
            #expect(dropped(buffer.append(script.frame(), now: script.videoTime)).isEmpty)
            taken += takeAll(&buffer).count
        }
        #expect(taken == 500)
    }
}

@Suite struct KeyframeRequestsTests {
    private let time = MediaScript.time

    @Test func primarySinkGetsAKeyframeAtOnce() {
        var requests = KeyframeRequests()
        #expect(requests.requested(isLeading: true, now: time(1)) == true)
        #expect(requests.requested(isLeading: true, now: time(1.1)) == true)
    }

    @Test func otherSinksShareOneKeyframePerSecond() {
        var requests = KeyframeRequests()
        #expect(requests.requested(isLeading: false, now: time(1)) == true)
        requests.keyframeCame(now: time(1.1))
        #expect(requests.requested(isLeading: false, now: time(1.2)) == false)
        #expect(requests.requested(isLeading: false, now: time(1.9)) == false)
        #expect(requests.isDue(now: time(2)) == false)
        #expect(requests.isDue(now: time(2.1)) == true)
        #expect(requests.isDue(now: time(4)) == false, "one request for both")
    }

    @Test func unrequestedKeyframeAnswersAllWaitingSinks() {
        var requests = KeyframeRequests()
        requests.keyframeCame(now: time(1))
        #expect(requests.requested(isLeading: false, now: time(1.5)) == false)
        requests.keyframeCame(now: time(1.8))
        #expect(requests.isDue(now: time(10)) == false)
    }
}
