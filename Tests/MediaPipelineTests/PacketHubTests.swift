import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import StreamQuality
import Synchronization
import Testing

@testable import Encoding
@testable import MediaPipeline

@Suite struct PacketHubTests {
    private let time = VirtualTime()
    private let requests = Requests()

    private final class Requests: Sendable { let count = Atomic(0) }

    private func header(_ kind: EncodedPacket.Kind, _ byte: UInt8, at seconds: Double = 0) -> EncodedPacket {
        EncodedPacket(kind: kind, decodeTime: moment(seconds), payload: [byte])
    }

    private func frame(at seconds: Double, isKey: Bool = false) -> EncodedPacket {
        EncodedPacket(kind: .video(isKeyframe: isKey), decodeTime: moment(seconds), payload: [0])
    }

    private func audio(at seconds: Double) -> EncodedPacket {
        EncodedPacket(kind: .audio, decodeTime: moment(seconds), payload: [0])
    }

    private func moment(_ seconds: Double) -> MediaTimestamp { .zero + .milliseconds(Int64(seconds * 1_000)) }

    private func hub(tracks: Int = 2, start: Double = 0) -> PacketHub {
        let hub = PacketHub(tracks: tracks) { [requests] in requests.count.add(1, ordering: .relaxed) }
        hub.mediaStarted(at: moment(start))
        return hub
    }

    private func sink(of hub: PacketHub, _ policy: SendBufferPolicy, isLeading: Bool = false) throws -> SinkBuffer {
        let sink = try SinkBuffer(of: hub, policy, hasVideo: true)
        hub.add(sink, isLeading: isLeading)
        if case .target = policy { hub.restart(sink) }
        return sink
    }

    private func taken(_ sink: SinkBuffer) -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while let packet = sink.take() { packets.append(packet) }
        return packets
    }

    @Test func sinksReceiveTheSamePacketsInTheSameOrder() throws {
        try time.run {
            let hub = hub()
            let target = try sink(of: hub, .target(.standard), isLeading: true)
            let preview = try sink(of: hub, .preview)
            hub.append([header(.audioHeader, 2)])
            hub.append([header(.videoHeader, 1), frame(at: 0, isKey: true)])
            for number in 1..<20 {
                hub.append([audio(at: Double(number) * 0.04)])
                hub.append([frame(at: Double(number) * 0.04)])
            }
            let (one, other) = (taken(target), taken(preview))
            #expect(one.count == 41 && one.map(\.kind) == other.map(\.kind))
            #expect(one.map(\.decodeTime) == other.map(\.decodeTime))
            #expect(target.sent.sentFrames == 20 && preview.sent.sentAudioPackets == 19)
        }
    }

    @Test func lateSinkStartsWithHeadersAtTheStreamsPresentTime() throws {
        try time.run {
            let hub = hub()
            hub.append([header(.videoHeader, 1), frame(at: 0, isKey: true)])
            hub.append([header(.audioHeader, 2)])
            hub.append([audio(at: 7.9)])
            hub.append([frame(at: 8)])
            let late = try sink(of: hub, .preview)
            // No later packet of either track has a time before the older of the two newest packets.
            #expect(taken(late).map(\.decodeTime) == [moment(7.9), moment(7.9)])
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(2))
            hub.append([frame(at: 8.04)])
            #expect(taken(late).isEmpty && requests.count.load(ordering: .relaxed) == 1)
            hub.append([frame(at: 8.08, isKey: true)])
            #expect(taken(late).map(\.kind) == [.video(isKeyframe: true)])
        }
    }

    @Test func laterHeadersReplaceEarlierOnesForLateSinks() throws {
        try time.run {
            let hub = hub()
            hub.append([header(.videoHeader, 1), frame(at: 0, isKey: true)])
            hub.append([header(.videoHeader, 7), frame(at: 1, isKey: true)])
            let late = try sink(of: hub, .preview)
            #expect(taken(late).map(\.payload) == [[7]])
        }
    }

    @Test func framesBeforeTheStreamsStartReachNoSink() throws {
        try time.run {
            let hub = hub(start: 1)
            let target = try sink(of: hub, .target(.standard))
            hub.append([header(.videoHeader, 1), frame(at: 0.9, isKey: true), frame(at: 1, isKey: true)])
            #expect(taken(target).map(\.decodeTime) == [.zero, moment(1)] && hub.refusedFrameCount == 1)
        }
    }

    /// A server takes the next epoch on a new connection; previews continue.
    @Test func newEpochEndsOnlyTheTargetsStream() throws {
        try time.run {
            let hub = hub()
            let target = try sink(of: hub, .target(.standard), isLeading: true)
            let preview = try sink(of: hub, .preview)
            hub.append([header(.videoHeader, 1), frame(at: 0, isKey: true)])
            #expect(taken(target).count == 2 && !target.isDrained)
            let epoch = hub.epochStarts(replacesVideo: true, replacesAudio: false)
            #expect(target.isDrained && hub.headers.isEmpty)
            hub.append([frame(at: 0.1)])
            hub.append([header(.videoHeader, 2), frame(at: 0.2, isKey: true)], epoch: epoch)
            #expect(target.take() == nil && target.refusedFrameCount == 1 && hub.refusedFrameCount == 1)
            hub.restart(target)
            hub.append([frame(at: 0.3, isKey: true)], epoch: epoch)
            #expect(taken(target).map(\.payload) == [[2], [0]])
            #expect(taken(preview).map(\.payload) == [[1], [0], [2], [0], [0]])
        }
    }

    @Test func endReachesEachSinkIncludingLateOnes() throws {
        try time.run {
            let hub = hub()
            let target = try sink(of: hub, .target(.standard))
            hub.append([header(.videoHeader, 1), frame(at: 0, isKey: true)])
            hub.trackEnded()
            hub.trackEnded()
            #expect(!target.isFinished)
            #expect(taken(target).count == 2 && target.isFinished)
            let late = try sink(of: hub, .preview)
            #expect(taken(late).count == 1 && late.isFinished)
        }
    }

    @Test func restartingPreviewDropsItsBacklogAndRequestsAKeyframe() throws {
        try time.run {
            let hub = hub()
            let preview = try sink(of: hub, .preview)
            hub.append([header(.videoHeader, 1), frame(at: 0, isKey: true), frame(at: 0.04)])
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(2))
            hub.restart(preview)
            #expect(requests.count.load(ordering: .relaxed) == 1)
            hub.append([frame(at: 2), frame(at: 2.04, isKey: true)])
            #expect(taken(preview).map(\.kind) == [.videoHeader, .video(isKeyframe: true)])
        }
    }

    @Test func removedSinkReceivesNothingMore() throws {
        try time.run {
            let hub = hub()
            let preview = try sink(of: hub, .preview)
            hub.append([frame(at: 0, isKey: true)])
            hub.remove(preview)
            hub.append([frame(at: 0.1)])
            #expect(taken(preview).count == 1)
        }
    }

    /// Each of them is full from time to time and then requests a keyframe.
    @Test func slowSpectatorsCauseAtMostOneKeyframePerSecond() throws {
        try time.run {
            let hub = hub()
            let target = try sink(of: hub, .target(.standard), isLeading: true)
            let previews = try (0..<5).map { _ in try sink(of: hub, .preview) }
            let start = MonotonicClock.now()
            hub.append([header(.videoHeader, 1), frame(at: 0, isKey: true)])
            var answered = 0
            for number in 1...500 {
                MonotonicClock.sleep(until: start + .milliseconds(20) * number)
                let isKey = requests.count.load(ordering: .relaxed) > answered
                answered = requests.count.load(ordering: .relaxed)
                hub.append([frame(at: Double(number) * 0.02, isKey: isKey)])
                // Each of them is read every 1.3 s.
                if number % 13 == 0 { _ = taken(previews[number / 13 % 5]) }
                _ = taken(target)
                target.kernelQueueMeasured(unsentBytes: 0, unacknowledgedBytes: 0)
            }
            #expect((3...10).contains(requests.count.load(ordering: .relaxed)), "10 s")
            #expect(target.sent.sentFrames == 501 && target.sent.droppedFrames == 0)
        }
    }
}
