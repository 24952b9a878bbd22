import Testing

@testable import LibcameraCapture

@Suite struct CameraTuningTests {
    @Test(arguments: ["", "imx999", "../../etc/passwd"]) func aFileThatIsNotThereIsRefused(name: String) {
        #expect(throws: CameraError.noTuning(camera: "front", name: name, directory: "/nowhere")) {
            try CameraTuning(named: name, camera: "front", directory: "/nowhere")
        }
    }

    @Test func itsWordsSayWhereFilesAre() {
        let error = CameraError.noTuning(camera: "front", name: "imx999", directory: CameraTuning.directory)
        #expect("\(error)".contains("no such file in /usr/share/libcamera/ipa/rpi/vc4"))
    }
}
