import CLibcamera
import Media
import Testing

@testable import LibcameraCapture

@Suite struct CameraStartupTests {
    /// What becomes of frames that come every 33 ms.
    private func verdicts(_ statuses: [clibcamera_status], spacing: Int64 = 33) -> [CameraStartup.Verdict] {
        var startup = CameraStartup()
        return statuses.enumerated().map { number, status in
            startup.verdict(status, now: MediaTimestamp(milliseconds: 1000 + spacing * Int64(number)))
        }
    }

    @Test func aCameraWithoutStartupIsTakenAtOnce() {
        let found = verdicts([CLIBCAMERA_WHOLE, CLIBCAMERA_BROKEN, CLIBCAMERA_WHOLE])
        #expect(found == [.whole, .broken, .whole])
    }

    @Test func framesAreKeptBackUntilTheCameraHasSettled() {
        let settling = [clibcamera_status](repeating: CLIBCAMERA_SETTLING, count: 7)
        let found = verdicts([CLIBCAMERA_BROKEN] + settling + [CLIBCAMERA_WHOLE, CLIBCAMERA_BROKEN])
        #expect(found == [CameraStartup.Verdict](repeating: .settling, count: 8) + [.whole, .broken])
    }

    /// 12 frames a second: the seventh would come 0.58 s after the first.
    @Test func afterHalfASecondTheyAreTakenAsTheyAre() {
        let found = verdicts([clibcamera_status](repeating: CLIBCAMERA_SETTLING, count: 8), spacing: 83)
        #expect(found == [CameraStartup.Verdict](repeating: .settling, count: 7) + [.whole])
    }

    @Test func aCameraThatGivesOnlyBrokenFramesIsNotStartingForEver() {
        let found = verdicts([clibcamera_status](repeating: CLIBCAMERA_BROKEN, count: 20))
        #expect(found.count { $0 == .settling } == 16 && found.suffix(4).allSatisfy { $0 == .broken })
    }

    /// A camera that was configured anew starts once.
    @Test func whatSettlesLaterIsNoStartup() {
        #expect(verdicts([CLIBCAMERA_WHOLE, CLIBCAMERA_SETTLING]) == [.whole, .whole])
    }
}
