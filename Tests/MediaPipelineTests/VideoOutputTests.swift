import DevicePorts
import LinuxIO
import Media
import PipelineSupport
import StreamQuality
import Testing

@testable import Encoding
@testable import MediaPipeline

struct VideoOutputTests {
    private let hub: PacketHub
    private let queue: SinkBuffer
    private let counters = SharedCounters()
    private let output: VideoOutput
    private let start = MonotonicClock.now()

    init() throws {
        let media = try HubWithTarget()
        (hub, queue) = (media.hub, media.target)
        hub.mediaStarted(at: start)
        output = VideoOutput(hub: hub, counters: counters) { _ in }
    }

    private func header(_ byte: UInt8) -> EncodedPacket {
        EncodedPacket(kind: .videoHeader, decodeTime: start, payload: [byte])
    }

    private func frame(_ milliseconds: Int64, isKey: Bool = false) -> EncodedPacket {
        EncodedPacket(
            kind: .video(isKeyframe: isKey), decodeTime: start + .milliseconds(milliseconds), payload: [0])
    }

    /// Kinds, and times since the start in milliseconds.
    private func taken() -> [String] {
        var texts: [String] = []
        while let packet = queue.take() {
            let time = (packet.decodeTime - start).wholeNanoseconds / 1_000_000
            switch packet.kind {
            case .videoHeader: texts.append("header \(packet.payload[0])")
            case .video(let isKey): texts.append("\(isKey ? "key" : "frame") \(time)")
            case .audio, .audioHeader: break
            }
        }
        return texts
    }

    @Test func onlyTheActiveEncoderIsUsedFromAKeyframeOn() {
        let (one, other) = (output.makeSource(), output.makeSource())
        output.listen(to: one)
        one.output([header(1), frame(0, isKey: true)])
        other.output([header(2), frame(0, isKey: true), frame(33)])
        one.output([frame(33)])
        #expect(taken() == ["header 1", "key 0", "frame 33"])
        output.listen(to: other)
        one.output([frame(66)])
        other.output([frame(66)])
        other.output([frame(100, isKey: true), frame(133)])
        #expect(taken() == ["header 2", "key 100", "frame 133"])
        #expect(counters.snapshot.encodedFrames == 4)
    }

    /// The hardware got frames in parallel with software, and its keyframe is one of these.
    @Test func framesDeliveredByAnotherEncoderAreNotRepeated() {
        let (software, hardware) = (output.makeSource(), output.makeSource())
        output.listen(to: software)
        software.output([header(1), frame(0, isKey: true), frame(33), frame(66)])
        hardware.output([header(2), frame(33, isKey: true)])
        output.listen(to: hardware, after: start + .milliseconds(66))
        hardware.output([frame(66, isKey: true)])
        for number in 3..<7 { hardware.output([frame(Int64(number) * 33 + 1)]) }
        // The keyframe was an unneeded frame, so another one is requested, once.
        #expect(output.takeKeyframeWish() && !output.takeKeyframeWish())
        hardware.output([frame(240, isKey: true), frame(270)])
        #expect(
            taken() == ["header 1", "key 0", "frame 33", "frame 66", "header 2", "key 240", "frame 270"])
        #expect(!output.takeKeyframeWish())
    }

    @Test func unchangedHeaderIsSentOnlyOncePerStream() {
        let (one, other) = (output.makeSource(), output.makeSource())
        output.listen(to: one)
        one.output([header(1), frame(0, isKey: true)])
        output.listen(to: other)
        other.output([header(1), frame(33, isKey: true)])
        #expect(taken() == ["header 1", "key 0", "key 33"])
        output.streamRestarts(epoch: nil)
        let third = output.makeSource()
        output.listen(to: third)
        third.output([header(1), frame(66, isKey: true)])
        #expect(taken() == ["header 1", "key 66"])
    }

    @Test func ignoredFramesNeverComeOut() {
        let source = output.makeSource()
        output.listen(to: source)
        source.output([header(1), frame(0, isKey: true)])
        output.ignore(source)
        source.output([frame(33)])
        #expect(taken() == ["header 1", "key 0"] && counters.snapshot.encodedFrames == 1)
    }

    @Test func timestampsAreUnique() {
        let source = output.makeSource()
        output.listen(to: source)
        source.output([header(1), frame(0, isKey: true), frame(0), frame(0)])
        #expect(taken() == ["header 1", "key 0", "frame 1", "frame 2"])
    }
}
