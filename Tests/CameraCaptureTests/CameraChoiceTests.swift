import Testing

@testable import CameraCapture

@Suite struct CameraChoiceTests {
    private let cameras = [
        CameraDescription(id: "/base/soc/i2c@1/imx708@1a", model: "imx708", location: .back),
        CameraDescription(id: "/base/soc/i2c@2/ov5647@36", model: "ov5647", location: .front),
        CameraDescription(id: "usb", model: "Webcam", location: nil),
    ]

    private func refusal(_ device: String, among cameras: [CameraDescription]) -> CameraError? {
        do throws(CameraError) {
            _ = try LibcameraCamera.choose(device, among: cameras)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [("", 0), ("back", 0), ("front", 1), ("usb", 2), ("/base/soc/i2c@2/ov5647@36", 1)])
    func aCameraIsChosenByIdByLocationOrAsTheFirst(device: String, index: Int) throws {
        #expect(try LibcameraCamera.choose(device, among: cameras) == index)
    }

    @Test func whatIsNotThereIsRefusedWithTheList() {
        let offered = "/base/soc/i2c@1/imx708@1a (back), /base/soc/i2c@2/ov5647@36 (front), usb"
        #expect(refusal("external", among: cameras) == .noMatch(asked: "external", offered: offered))
        #expect(refusal("usb2", among: cameras) == .noMatch(asked: "usb2", offered: offered))
    }

    @Test func withNoCameraAtAllTheReasonIsGiven() {
        guard case CameraError.none(asked: "back", let reason)? = refusal("back", among: []) else {
            Issue.record("chose among none")
            return
        }
        #expect(!reason.isEmpty)
    }
}

@Suite struct CameraControlTests {
    private let exposure = CameraControl(name: "ExposureTime", kind: .integer, minimum: 100, maximum: 66_666)
    private let lens = CameraControl(name: "LensPosition", kind: .real, minimum: 0, maximum: 32)
    private let balance = CameraControl(name: "AwbEnable", kind: .boolean, minimum: 0, maximum: 1)
    private let gains = CameraControl(name: "ColourGains", kind: .other, minimum: 0, maximum: 32)

    @Test func numbersAreTakenWithinTheirRange() {
        #expect(exposure.value("100") == 100 && exposure.value("66666") == 66_666)
        #expect(exposure.value("99") == nil && exposure.value("66667") == nil)
        #expect(exposure.value("1000.5") == nil && exposure.value("fast") == nil && exposure.value("") == nil)
        #expect(lens.value("2.5") == 2.5 && lens.value("32") == 32)
        #expect(lens.value("-0.1") == nil && lens.value("32.1") == nil)
        #expect(lens.value("nan") == nil && lens.value("inf") == nil)
    }

    @Test func switchesAreOnOrOff() {
        #expect(balance.value("on") == 1 && balance.value("true") == 1)
        #expect(balance.value("off") == 0 && balance.value("false") == 0)
        #expect(balance.value("2") == nil && balance.value("") == nil)
    }

    @Test func whatTakesMoreThanOneNumberIsNotSet() {
        #expect(gains.value("1") == nil)
        #expect(gains.possibleValues == "not to be set by one value")
    }

    @Test func possibleValuesAreSaid() {
        #expect(exposure.possibleValues == "a whole number from 100 to 66666")
        #expect(lens.possibleValues == "a number from 0.0 to 32.0")
        let open = CameraControl(name: "Gain", kind: .integer, minimum: -.infinity, maximum: .nan)
        #expect(open.possibleValues == "a whole number from \(Int64.min) to 0")
    }
}
