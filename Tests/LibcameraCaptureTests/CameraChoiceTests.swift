import Testing

@testable import LibcameraCapture

@Suite struct CameraChoiceTests {
    private let cameras = [
        CameraDescription(id: "/base/soc/i2c@1/imx708@1a", model: "imx708", location: .back),
        CameraDescription(id: "/base/soc/i2c@2/ov5647@36", model: "ov5647", location: .front),
        CameraDescription(id: "usb", model: "Webcam", location: nil),
    ]

    private func refusal(_ device: String, among cameras: [CameraDescription]) -> CameraError? {
        do throws(CameraError) {
            _ = try LibcameraCamera.choose(device, among: cameras, absence: CameraAbsence(root: "/nowhere"))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [("", 0), ("back", 0), ("front", 1), ("usb", 2), ("/base/soc/i2c@2/ov5647@36", 1)])
    func cameraIsChosenByIdByLocationOrAsTheFirst(device: String, index: Int) throws {
        #expect(try LibcameraCamera.choose(device, among: cameras) == index)
    }

    @Test func missingCameraIsRefusedWithTheList() {
        let offered = "/base/soc/i2c@1/imx708@1a (back), /base/soc/i2c@2/ov5647@36 (front), usb"
        #expect(refusal("external", among: cameras) == .noMatch(asked: "external", offered: offered))
        #expect(refusal("usb2", among: cameras) == .noMatch(asked: "usb2", offered: offered))
    }

    @Test func withoutAnyCameraTheReasonIsGiven() {
        guard case CameraError.none(asked: "back", let reason)? = refusal("back", among: []) else {
            Issue.record("chose a camera from an empty list")
            return
        }
        #expect(!reason.isEmpty)
    }
}
