import DevicePorts
import Media
import Testing

@testable import LibcameraCapture

@Suite struct CameraControlTests {
    private let exposure = CameraControl(name: "ExposureTime", kind: .integer, minimum: 100, maximum: 66_666)
    private let lens = CameraControl(name: "LensPosition", kind: .real, minimum: 0, maximum: 32)
    private let balance = CameraControl(name: "AwbEnable", kind: .boolean, minimum: 0, maximum: 1)
    private let gains = CameraControl(name: "ColourGains", kind: .real, count: 2, minimum: 0, maximum: 32)
    private let focus = CameraControl(
        name: "AfMode", kind: .choice, maximum: 2,
        choices: [.init(name: "AfModeManual", value: 0), .init(name: "AfModeContinuous", value: 2)])
    private let crop = CameraControl(
        name: "ScalerCrop", kind: .rectangle,
        rectangles: .init(least: .init(0, 0, 64, 32), bounds: .init(8, 4, 4608, 2592)))

    @Test func rectangleHasNoRangeOfNumbers() {
        #expect(crop.range == nil)
        #expect(lens.range?.minimum == 0 && lens.range?.maximum == 32)
    }

    @Test func numbersMustBeInRange() {
        #expect(exposure.values("100") == [100] && exposure.values("66666") == [66_666])
        #expect(exposure.values("99") == nil && exposure.values("66667") == nil)
        #expect(exposure.values("1000.5") == nil && exposure.values("fast") == nil && exposure.values("") == nil)
        #expect(exposure.values("100/100") == nil)
        #expect(lens.values("2.5") == [2.5] && lens.values("32") == [32])
        #expect(lens.values("-0.1") == nil && lens.values("32.1") == nil)
        #expect(lens.values("nan") == nil && lens.values("inf") == nil)
    }

    @Test func switchesAreOnOrOff() {
        #expect(balance.values("on") == [1] && balance.values("true") == [1])
        #expect(balance.values("off") == [0] && balance.values("false") == [0])
        #expect(balance.values("2") == nil && balance.values("") == nil)
        let fixed = CameraControl(name: "AeEnable", kind: .boolean, minimum: 1, maximum: 1)
        #expect(fixed.values("on") == [1] && fixed.values("off") == nil && fixed.possibleValues == "on")
    }

    @Test func listsRequireTheirCountOfNumbers() {
        #expect(gains.values("1.5/2") == [1.5, 2])
        #expect(gains.values("1.5") == nil && gains.values("1/2/3") == nil && gains.values("1/") == nil)
        #expect(gains.values("1/33") == nil)
        let any = CameraControl(name: "Any", kind: .integer, count: nil, maximum: 9)
        #expect(any.values("1") == [1] && any.values("1/2/3") == [1, 2, 3] && any.values("1/10") == nil)
    }

    @Test func namedValuesAcceptNameAndNumber() {
        #expect(focus.values("AfModeContinuous") == [2] && focus.values("Continuous") == [2])
        #expect(focus.values("2") == [2] && focus.values("0") == [0])
        #expect(focus.values("1") == nil && focus.values("Auto") == nil && focus.values("") == nil)
    }

    @Test func rectanglesMustLieWithinTheirBounds() {
        #expect(crop.values("8/4/4608/2592") == [8, 4, 4608, 2592])
        #expect(crop.values("100/50/64/32") == [100, 50, 64, 32])
        #expect(crop.values("7/4/64/32") == nil && crop.values("8/3/64/32") == nil)
        #expect(crop.values("9/4/4608/2592") == nil && crop.values("8/5/4608/2592") == nil)
        #expect(crop.values("8/4/63/32") == nil && crop.values("8/4/64/31") == nil)
        #expect(crop.values("8/4/64") == nil && crop.values("8/4/-64/32") == nil && crop.values("a/b/c/d") == nil)
        #expect(crop.values("8/4/99999999999/32") == nil)
    }

    @Test func textCannotBeSet() {
        let text = CameraControl(name: "Text", kind: .other)
        #expect(text.values("1") == nil && text.possibleValues == "not to be set here")
    }

    @Test func possibleValuesAreListed() {
        #expect(exposure.possibleValues == "a whole number from 100 to 66666")
        #expect(lens.possibleValues == "a number from 0.0 to 32.0")
        #expect(gains.possibleValues == "2 times a number from 0.0 to 32.0, with / between them")
        #expect(focus.possibleValues == "one of AfModeManual, AfModeContinuous")
        #expect(crop.possibleValues == "LEFT/TOP/WIDTH/HEIGHT within 8/4/4608/2592, at least 64 wide and 32 high")
        let open = CameraControl(name: "Gain", kind: .integer, minimum: -.infinity, maximum: .nan)
        #expect(open.possibleValues == "a whole number from \(Int64.min) to 0")
    }
}

@Suite struct CameraSettingTests {
    private func described(_ controls: [CameraControl]) -> CameraDescription {
        CameraDescription(id: "cam", model: "imx708", location: .back, controls: controls)
    }

    private func refusal<Value>(_ body: () throws(CameraError) -> Value) -> CameraError? {
        do throws(CameraError) {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func flipsAreTakenFromTheSettings() throws {
        let camera = described([.horizontalFlip, .verticalFlip])
        let flips = try LibcameraCamera.flips(
            [.init(name: "Brightness", value: "1"), .init(name: "VerticalFlip", value: "on")], of: camera, "cam")
        #expect(flips == FrameFlips(isVertical: true))
        #expect(
            try LibcameraCamera.flips([.init(name: "HorizontalFlip", value: "on")], of: camera, "cam")
                == FrameFlips(isHorizontal: true))
        #expect(
            try LibcameraCamera.flips([.init(name: "HorizontalFlip", value: "off")], of: camera, "cam") == FrameFlips())
    }

    @Test func flipsAreRefusedWithTheCamerasList() {
        let camera = described([CameraControl(name: "Brightness", kind: .real), .horizontalFlip])
        let refused = refusal { () throws(CameraError) in
            try LibcameraCamera.flips([.init(name: "VerticalFlip", value: "on")], of: camera, "cam")
        }
        #expect(refused == .unknownControl(camera: "cam", name: "VerticalFlip", offered: "Brightness, HorizontalFlip"))
        let wrong = refusal { () throws(CameraError) in
            try LibcameraCamera.flips([.init(name: "HorizontalFlip", value: "2")], of: camera, "cam")
        }
        #expect(wrong == .badControlValue(camera: "cam", name: "HorizontalFlip", value: "2", possible: "on or off"))
    }

    @Test(arguments: [(30, 30), (60, 60), (90, 60), (2, 5), (5, 5)])
    func frameRateIsLimitedToTheCamerasRange(wanted: Int, used: Int) {
        let limits = CameraControl(
            name: "FrameDurationLimits", kind: .integer, count: 2, minimum: 16_666, maximum: 200_000)
        let rate = LibcameraCamera.frameRate(FrameRate(framesPerSecond: wanted), [limits])
        #expect(rate.framesPerSecond == used)
    }

    @Test func frameRateIsKeptIfTheCameraReportsNoRange() {
        let wanted = FrameRate(framesPerSecond: 25)
        #expect(LibcameraCamera.frameRate(wanted, []) == wanted)
        let strange = CameraControl(name: "FrameDurationLimits", kind: .integer, count: 2, minimum: 0, maximum: 0)
        #expect(LibcameraCamera.frameRate(wanted, [strange]) == wanted)
    }
}
