import DevicePorts
import Media
import Testing

@testable import LibcameraCapture

@Suite struct StreamingDefaultsTests {
    /// The controls of the Raspberry Pi modules with a lens.
    private static let offered = [
        choice("AfMode", ["AfModeManual", "AfModeAuto", "AfModeContinuous"]),
        choice("NoiseReductionMode", ["NoiseReductionModeOff", "NoiseReductionModeFast"]),
        choice("AeFlickerMode", ["FlickerOff", "FlickerManual"]),
        CameraControl(name: "AeFlickerPeriod", kind: .integer, minimum: 100, maximum: 1_000_000),
        CameraControl(name: "LensPosition", kind: .real, maximum: 15),
    ]

    private static func choice(_ name: String, _ values: [String]) -> CameraControl {
        CameraControl(
            name: name, kind: .choice,
            choices: values.enumerated().map { CameraControl.Choice(name: $1, value: Double($0)) })
    }

    private func defaults(
        _ chosen: [String] = [], mains: MainsFrequency? = nil, offered: [CameraControl] = offered
    ) -> [String] {
        var settings = CameraSettings(device: "")
        settings.mains = mains
        settings.controls = chosen.map { CameraSettings.Control(name: $0, value: "1") }
        return StreamingDefaults.controls(beside: settings, offered: offered).map { "\($0.name)=\($0.value)" }
    }

    @Test func focusIsContinuousByDefault() {
        #expect(defaults() == ["AfMode=AfModeContinuous", "NoiseReductionMode=NoiseReductionModeFast"])
    }

    @Test(arguments: ["AfMode", "LensPosition"]) func configuredFocusIsKept(control: String) {
        #expect(defaults([control]) == ["NoiseReductionMode=NoiseReductionModeFast"])
    }

    @Test func flickerControlFollowsTheMains() {
        #expect(defaults(mains: .hertz50).suffix(2) == ["AeFlickerPeriod=10000", "AeFlickerMode=FlickerManual"])
        #expect(defaults(mains: .hertz60).suffix(2) == ["AeFlickerPeriod=8333", "AeFlickerMode=FlickerManual"])
        #expect(defaults(["AeFlickerPeriod"], mains: .hertz60).count == 2)
    }

    @Test func missingControlsAreNotSet() {
        #expect(defaults(mains: .hertz50, offered: []) == [])
        #expect(defaults(offered: [Self.choice("AfMode", ["AfModeManual"])]) == [])
    }
}
