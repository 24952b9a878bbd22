import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import StreamQuality
import Testing

@testable import Encoding
@testable import MediaPipeline
@testable import Publishing

@Suite struct StreamAdaptationTests {
    /// The encoder may have been asked for another size before its refusal was read.
    @Test func aSizeThatIsOrderedBeforeARefusalIsReadIsVoid() throws {
        var settings = QualitySettings(videoQuality: .medium3, audioQuality: nil)
        let full = FrameSize(width: 1280, height: 720)
        settings.frameSizes = FrameSizeLadder(full: full)
        settings.resize = .seamless
        let control = EncoderRequests()
        let queue = try HubWithTarget().target
        let adaptation = StreamAdaptation(
            settings: settings, control: control, queue: queue, counters: SharedCounters())
        adaptation.resizedEncoder = { point in
            VideoEncoderConfiguration(
                size: point.frameSize ?? full, frameRate: point.frameRate, bitrate: point.videoBitrate,
                profile: .baseline, level: .level3_1, keyframeInterval: 60)
        }
        var smaller = adaptation.operatingPoint
        smaller.frameSize = FrameSize(width: 640, height: 360)
        control.perform([], resize: adaptation.resizedEncoder?(smaller))
        adaptation.sizeRefused(keeping: full)
        #expect(adaptation.operatingPoint.frameSize == full)
        #expect(control.takeVideoRequests(at: .zero).resize?.size == full)
    }
}
