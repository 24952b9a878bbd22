import Controls
import Media
import Testing

@testable import LibcameraCapture

/// Maps the table's controls to libcamera's, with those of a Raspberry Pi camera that has a lens.
@Suite struct ControlMappingTests {
    private static func choice(_ name: String, _ names: [String]) -> CameraControl {
        CameraControl(
            name: name, kind: .choice,
            choices: names.enumerated().map { CameraControl.Choice(name: $1, value: Double($0)) })
    }

    private static func number(_ name: String, _ minimum: Double, _ maximum: Double) -> CameraControl {
        CameraControl(name: name, kind: .real, minimum: minimum, maximum: maximum)
    }

    private static let crop = CameraControl(
        name: "ScalerCrop", kind: .rectangle,
        rectangles: .init(
            least: CameraControl.Rectangle(0, 0, 128, 128), bounds: CameraControl.Rectangle(0, 0, 4608, 2592)))

    private static let offered = [
        choice("AfMode", ["AfModeManual", "AfModeAuto", "AfModeContinuous"]),
        choice("AfMetering", ["AfMeteringAuto", "AfMeteringWindows"]),
        choice("AfTrigger", ["AfTriggerStart", "Cancel"]),
        CameraControl(name: "AfWindows", kind: .rectangle, count: nil), number("LensPosition", 0, 15),
        choice("ExposureTimeMode", ["Auto", "Manual"]), choice("AnalogueGainMode", ["Auto", "Manual"]),
        number("ExposureTime", 100, 66_000), number("AnalogueGain", 1, 16), number("ExposureValue", -8, 8),
        choice("AeMeteringMode", ["MeteringCentreWeighted", "MeteringSpot", "MeteringMatrix", "MeteringCustom"]),
        CameraControl(name: "AwbEnable", kind: .boolean, maximum: 1), number("ColourGains", 0, 32),
        choice("AwbMode", ["AwbAuto", "AwbIncandescent", "AwbDaylight", "AwbCustom"]), number("Brightness", -1, 1),
        choice("NoiseReductionMode", ["NoiseReductionModeOff", "NoiseReductionModeHighQuality"]), crop,
    ]

    private static let mode = SensorMode(
        size: FrameSize(width: 2304, height: 1296), bitDepth: 10, seen: FrameSize(width: 4608, height: 2592),
        shortestFrame: .milliseconds(17))

    private var mapping = ControlMapping(
        offered: offered, size: FrameSize(width: 640, height: 360), mode: mode, isFocusing: true)

    private mutating func set(_ words: String) throws -> [String] {
        let words = words.split(separator: " ").map(String.init)
        var changes: [ControlChange] = []
        for index in stride(from: 0, to: words.count, by: 2) {
            changes.append(try #require(try ControlChange(words[index], words[index + 1])))
        }
        return mapping.settings(for: changes).map { setting in
            "\(setting.control.name)=\(setting.values.map { "\($0.formatted)" }.joined(separator: "/"))"
        }
    }

    @Test func camerasControlsAreOfferedWithTheirRanges() {
        let offers = Dictionary(uniqueKeysWithValues: mapping.offers.map { ($0.name, $0) })
        #expect(mapping.offers.map(\.name) == ControlName.allCases)
        #expect(offers[.focus]?.words == ["manual", "auto", "continuous"])
        #expect(offers[.exposureTime]?.range == 0.1...66)
        #expect(offers[.metering]?.words == ["center", "spot", "matrix"])
        #expect(offers[.whiteBalance]?.words == ["auto", "locked", "incandescent", "daylight", ControlOffer.gainsMark])
        #expect(offers[.denoise]?.words == ["off", "high-quality"])
        // The mode bins two pixels into one.
        #expect(offers[.zoom]?.range == 1...3.6)
        #expect(offers[.saturation]?.absence == "the camera does not have it")
        #expect(offers[.exposurePoint]?.absence != nil && offers[.mirror]?.absence != nil)
    }

    @Test func cameraWithoutALensSaysSo() {
        let mapping = ControlMapping(
            offered: [], size: FrameSize(width: 640, height: 360), mode: nil, isFocusing: false)
        #expect(mapping.offers.allSatisfy { $0.absence != nil })
        #expect(mapping.offers.first { $0.name == .lens }?.absence == "the camera has a fixed focus")
    }

    @Test mutating func eachChangeBecomesCameraControls() throws {
        let expected = [
            "focus auto": ["AfMode=1", "AfTrigger=0"], "focus continuous": ["AfMode=2"], "focus manual": ["AfMode=0"],
            "lens 2.5": ["AfMode=0", "LensPosition=2.5"],
            "exposure locked": ["ExposureTimeMode=1", "AnalogueGainMode=1"],
            "exposure auto": ["ExposureTimeMode=0", "AnalogueGainMode=0"],
            "exposure-time 1/50": ["ExposureTimeMode=1", "ExposureTime=20000"], "gain auto": ["AnalogueGainMode=0"],
            "gain 4": ["AnalogueGainMode=1", "AnalogueGain=4"], "exposure-value -1": ["ExposureValue=-1"],
            "metering spot": ["AeMeteringMode=1"], "white-balance auto": ["AwbEnable=1", "AwbMode=0"],
            "white-balance locked": ["AwbEnable=0"], "white-balance daylight": ["AwbEnable=1", "AwbMode=2"],
            "white-balance 1.5/2": ["AwbEnable=0", "ColourGains=1.5/2"], "brightness 0.5": ["Brightness=0.5"],
            "denoise high-quality": ["NoiseReductionMode=1"], "zoom 2": ["ScalerCrop=1152/648/2304/1296"],
        ]
        for (words, settings) in expected {
            var mapping = self
            #expect(try mapping.set(words) == settings, "\(words)")
        }
    }

    @Test mutating func pointsReferToTheZoomedView() throws {
        #expect(try set("focus-point 0,0,1,1") == ["AfMetering=1", "AfWindows=0/0/4608/2592"])
        #expect(try set("zoom 2 zoom-center 0.25,0.25") == ["ScalerCrop=0/0/2304/1296"])
        #expect(try set("focus-point 0.5,0.5,0.5,0.5") == ["AfMetering=1", "AfWindows=1152/648/1152/648"])
        #expect(try set("focus-point auto") == ["AfMetering=0"])
        #expect(mapping.zoom((0, 0, 2304, 1296)) == ZoomedView(zoom: 2, center: FramePoint(x: 0.25, y: 0.25)))
    }

    @Test mutating func manualFocusLensFocusesOnceOnANewPoint() throws {
        _ = try set("lens 1")
        #expect(try set("focus-point 0,0,1,1").suffix(2) == ["AfMode=1", "AfTrigger=0"])
        // Unless the same change says otherwise.
        #expect(try set("focus-point 0,0,1,1 focus manual").suffix(1) == ["AfMode=0"])
    }

    /// A stream of another shape shows only a part of the sensor at any zoom.
    @Test func cropHasTheStreamsShape() throws {
        let crop = try #require(CropRange(Self.crop, size: FrameSize(width: 640, height: 480), mode: Self.mode))
        #expect(crop.rectangle(ZoomedView()) == [576, 0, 3456, 2592])
        #expect(abs(crop.largestZoom - 2.7) < 1e-9)
        let upright = try #require(CropRange(Self.crop, size: FrameSize(width: 480, height: 640), mode: nil))
        #expect(upright.rectangle(ZoomedView()) == [1332, 0, 1944, 2592])
    }
}

extension Double {
    fileprivate var formatted: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
