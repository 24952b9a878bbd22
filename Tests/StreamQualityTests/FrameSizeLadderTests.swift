import Media
import Testing

@testable import StreamQuality

@Suite struct FrameSizeLadderTests {
    private static let fulls =
        VideoDimension.presets.map(\.size) + [
            FrameSize(width: 720, height: 1280), FrameSize(width: 848, height: 480),
            FrameSize(width: 1000, height: 1000),
            FrameSize(width: 16, height: 16), FrameSize(width: 1920, height: 80),
        ]

    @Test func commonFramesHaveTheseSizes() {
        #expect(
            FrameSizeLadder(full: FrameSize(width: 1280, height: 720)).sizes.map(\.description)
                == ["1280x720", "960x540", "640x360", "448x252"])
        #expect(
            FrameSizeLadder(full: FrameSize(width: 1920, height: 1080)).sizes.map(\.description)
                == ["1920x1080", "1440x810", "960x540", "640x360"])
        #expect(
            FrameSizeLadder(full: FrameSize(width: 640, height: 480)).sizes.map(\.description)
                == ["640x480", "480x360", "320x240"])
        #expect(FrameSizeLadder(full: FrameSize(width: 320, height: 180)).sizes.count == 1)
    }

    @Test(arguments: fulls)
    func eachSizeIsSmallerWithTheSameAspectRatio(full: FrameSize) {
        let sizes = FrameSizeLadder(full: full).sizes
        #expect(sizes.first == full)
        for (larger, smaller) in zip(sizes, sizes.dropFirst()) {
            #expect(smaller.pixelCount <= larger.pixelCount * 8 / 10)
            #expect(smaller.width % 16 == 0 && smaller.height % 2 == 0)
            #expect(max(smaller.width, smaller.height) >= 320 && min(smaller.width, smaller.height) >= 26)
            // At most two rows from the exact aspect ratio.
            #expect(abs(smaller.width * full.height - smaller.height * full.width) <= 2 * full.width)
        }
    }

    @Test func secondStreamHasHalfOfEachSide() {
        func second(_ width: Int, _ height: Int, smallest: FrameSize? = nil) -> String? {
            FrameSizeLadder(full: FrameSize(width: width, height: height), smallest: smallest).ofSecondStream?
                .description
        }
        #expect(second(1280, 720) == "640x360" && second(1920, 1080) == "960x540" && second(640, 480) == "320x240")
        #expect(second(720, 1280) == "352x626" || second(720, 1280) == "368x654")
        #expect(second(320, 180) == nil)
        #expect(second(1280, 720, smallest: FrameSize(width: 960, height: 540)) == nil)
    }

    @Test func noSizeIsBelowTheSmallest() {
        let ladder = FrameSizeLadder(
            full: FrameSize(width: 1280, height: 720), smallest: FrameSize(width: 640, height: 360))
        #expect(ladder.sizes.map(\.width) == [1280, 960, 640])
        let none = FrameSizeLadder(
            full: FrameSize(width: 1280, height: 720), smallest: FrameSize(width: 1920, height: 1080))
        #expect(none.sizes.map(\.width) == [1280])
    }
}
