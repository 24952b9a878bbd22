import CLibcamera
import Media
import Testing

@testable import LibcameraCapture

@Suite struct CameraStartupTests {
    /// The verdicts on frames that arrive every 33 ms.
    private func verdicts(_ statuses: [clibcamera_status], spacing: Int64 = 33) -> [CameraStartup.Verdict] {
        var startup = CameraStartup()
        return statuses.enumerated().map { number, status in
            startup.verdict(status, now: MediaTimestamp(milliseconds: 1000 + spacing * Int64(number)))
        }
    }

    @Test func cameraWithoutAStartupPhaseIsUsedAtOnce() {
        let found = verdicts([CLIBCAMERA_WHOLE, CLIBCAMERA_BROKEN, CLIBCAMERA_WHOLE])
        #expect(found == [.whole, .broken, .whole])
    }

    @Test func framesAreHeldBackUntilTheCameraHasSettled() {
        let settling = [clibcamera_status](repeating: CLIBCAMERA_SETTLING, count: 7)
        let found = verdicts([CLIBCAMERA_BROKEN] + settling + [CLIBCAMERA_WHOLE, CLIBCAMERA_BROKEN])
        #expect(found == [CameraStartup.Verdict](repeating: .settling, count: 8) + [.whole, .broken])
    }

    /// 12 frames per second: the seventh would arrive 0.58 s after the first.
    @Test func unsettledFramesAreUsedAfterHalfASecond() {
        let found = verdicts([clibcamera_status](repeating: CLIBCAMERA_SETTLING, count: 8), spacing: 83)
        #expect(found == [CameraStartup.Verdict](repeating: .settling, count: 7) + [.whole])
    }

    @Test func brokenFramesCountAsBrokenAfterTheStartup() {
        let found = verdicts([clibcamera_status](repeating: CLIBCAMERA_BROKEN, count: 20))
        #expect(found.count { $0 == .settling } == 16 && found.suffix(4).allSatisfy { $0 == .broken })
    }

    /// A reconfigured camera has only one startup.
    @Test func laterSettlingFramesAreNotHeldBack() {
        #expect(verdicts([CLIBCAMERA_WHOLE, CLIBCAMERA_SETTLING]) == [.whole, .whole])
    }
}
