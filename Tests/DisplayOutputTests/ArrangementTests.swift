import DevicePorts
import Media
import Testing

@testable import DisplayOutput

/// Chooses the mode, the planes and the positions.
@Suite struct ArrangementTests {
    private static func mode(
        _ index: Int, _ width: Int, _ height: Int, _ rate: Int = 60, isPreferred: Bool = false,
        isInterlaced: Bool = false
    ) -> DisplayMode {
        DisplayMode(
            index: index, size: FrameSize(width: width, height: height), refreshRate: rate, isPreferred: isPreferred,
            isInterlaced: isInterlaced)
    }

    @Test func displaysPreferredModeComesFirst() {
        let modes = [Self.mode(0, 1920, 1080), Self.mode(1, 1024, 768, isPreferred: true), Self.mode(2, 640, 480)]
        #expect(DisplayMode.inOrderOfTrial(modes).map(\.index) == [1, 2])
    }

    @Test func oversizedModeIsReplacedByASmallerOneOfTheSameShape() {
        let modes = [
            Self.mode(0, 3840, 2160, isPreferred: true), Self.mode(1, 1920, 1200, 60), Self.mode(2, 1920, 1080, 120),
            Self.mode(3, 1920, 1080, 50), Self.mode(4, 1920, 1080, 60), Self.mode(5, 1280, 1024),
        ]
        #expect(DisplayMode.inOrderOfTrial(modes).first?.index == 4)
        #expect(DisplayMode.inOrderOfTrial(modes).count == 4)
    }

    @Test func oversizedModeIsUsedIfThereIsNothingSmaller() {
        let modes = [Self.mode(0, 3840, 2160, 30, isPreferred: true), Self.mode(1, 4096, 2160)]
        #expect(DisplayMode.inOrderOfTrial(modes).map(\.index) == [0])
    }

    @Test func interlacedModesAreIgnored() {
        let modes = [Self.mode(0, 1920, 1080, isPreferred: true, isInterlaced: true), Self.mode(1, 720, 576)]
        #expect(DisplayMode.inOrderOfTrial(modes).map(\.index) == [1])
        #expect(DisplayMode.inOrderOfTrial([]).isEmpty)
    }

    @Test(arguments: [
        (640, 480, 1920, 1080, Area(left: 240, top: 0, FrameSize(width: 1440, height: 1080))),
        (1280, 720, 1024, 768, Area(left: 0, top: 96, FrameSize(width: 1024, height: 576))),
        (640, 360, 1280, 720, Area(left: 0, top: 0, FrameSize(width: 1280, height: 720))),
    ])
    func aFrameKeepsItsShape(width: Int, height: Int, screenWidth: Int, screenHeight: Int, area: Area) {
        let screen = FrameSize(width: screenWidth, height: screenHeight)
        #expect(Area(fitting: FrameSize(width: width, height: height), into: screen) == area)
    }

    @Test func screenWithoutPixelsShowsNothing() {
        #expect(Area(fitting: FrameSize(width: 640, height: 480), into: FrameSize(width: 0, height: 1080)) == nil)
    }

    @Test func withoutScalingTheCenterIsShownCentered() {
        let large = Area.unscaled(FrameSize(width: 1280, height: 721), on: FrameSize(width: 801, height: 600))
        #expect(large.source == Area(left: 240, top: 60, FrameSize(width: 800, height: 600)))
        #expect(large.screen == Area(left: 0, top: 0, FrameSize(width: 800, height: 600)))
        let small = Area.unscaled(FrameSize(width: 320, height: 240), on: FrameSize(width: 1024, height: 768))
        #expect(small.source == Area(FrameSize(width: 320, height: 240)))
        #expect(small.screen == Area(left: 352, top: 264, FrameSize(width: 320, height: 240)))
    }
}

/// Planes as described by drivers of boards and emulated machines.
@Suite struct PlaneArrangementTests {
    private static let rgb: Set = [FourCC("XR24"), FourCC("AR24")]
    private static let all: Set = [FourCC("XR24"), FourCC("AR24"), FourCC("NV12"), FourCC("YU12")]

    private static func plane(
        _ id: UInt32, _ kind: PlaneDescription.Kind, _ formats: Set<FourCC>, position: UInt64? = nil, crtcs: UInt32 = 1
    ) -> PlaneDescription {
        PlaneDescription(id: id, kind: kind, formats: formats, crtcs: crtcs, position: position)
    }

    private static func layered(
        video: UInt32, words: UInt32, page: UInt32, keepsPage: Bool = false
    ) -> PlaneArrangement {
        PlaneArrangement(layers: .init(video: video, words: words, keepsPage: keepsPage), page: page)
    }

    @Test func videoIsBehindTheText() {
        let planes = [
            Self.plane(40, .overlay, Self.all, position: 2), Self.plane(30, .primary, Self.all, position: 0),
            Self.plane(50, .overlay, Self.all, position: 1), Self.plane(60, .cursor, Self.all, position: 3),
        ]
        let first = PlaneArrangement.candidates(planes, crtc: 0).first
        #expect(first == Self.layered(video: 30, words: 50, page: 30))
    }

    @Test func videoUsesAnOverlayIfThePrimaryPlaneLacksYUV() {
        let planes = [
            Self.plane(30, .primary, Self.rgb), Self.plane(40, .overlay, Self.all), Self.plane(50, .overlay, Self.rgb),
        ]
        let candidates = PlaneArrangement.candidates(planes, crtc: 0)
        #expect(
            candidates.prefix(2) == [
                Self.layered(video: 40, words: 50, page: 30),
                Self.layered(video: 40, words: 50, page: 30, keepsPage: true),
            ])
    }

    @Test func withoutYUVEverythingIsDrawn() {
        let candidates = PlaneArrangement.candidates([Self.plane(30, .primary, Self.rgb)], crtc: 0)
        #expect(candidates == [PlaneArrangement(layers: nil, page: 30)])
    }

    @Test func planesOfOtherDisplaysAreIgnored() {
        let planes = [
            Self.plane(30, .primary, Self.all, crtcs: 1), Self.plane(31, .primary, Self.rgb, crtcs: 2),
            Self.plane(40, .overlay, Self.all, crtcs: 1),
        ]
        let candidates = PlaneArrangement.candidates(planes, crtc: 1)
        #expect(candidates == [PlaneArrangement(layers: nil, page: 31)])
        #expect(PlaneArrangement.candidates(planes, crtc: 40).isEmpty)
    }

    /// Text must not be written into the encoder's frames.
    @Test func withoutAPlaneForTextEverythingIsDrawn() {
        let alone = PlaneArrangement.candidates([Self.plane(30, .primary, Self.all)], crtc: 0)
        #expect(alone == [PlaneArrangement(layers: nil, page: 30)])
        let behind = [Self.plane(30, .primary, Self.all, position: 1), Self.plane(40, .overlay, Self.rgb, position: 0)]
        #expect(PlaneArrangement.candidates(behind, crtc: 0) == [PlaneArrangement(layers: nil, page: 30)])
    }

    @Test func drawingIsTheLastResort() {
        let planes = [Self.plane(30, .primary, Self.all), Self.plane(40, .overlay, Self.all)]
        let candidates = PlaneArrangement.candidates(planes, crtc: 0)
        #expect(candidates.count == 2 && candidates.last?.layers == nil)
        #expect(candidates.dropLast().allSatisfy { $0.layers != nil })
        #expect(Set(candidates).count == candidates.count)
    }
}
