import Glibc
import Testing

@testable import LibcameraCapture

@Suite struct CameraTuningTests {
    @Test(arguments: ["", "imx999", "../../etc/passwd"]) func missingFileIsRefused(name: String) {
        #expect(throws: CameraError.noTuning(camera: "front", name: name, directory: "/nowhere")) {
            try CameraTuning(named: name, camera: "front", directory: "/nowhere")
        }
    }

    @Test func errorNamesTheFolderOfTheFiles() {
        let error = CameraError.noTuning(camera: "front", name: "imx999", directory: CameraTuning.directory)
        #expect("\(error)".contains("no such file in /usr/share/libcamera/ipa/rpi/vc4"))
    }

    /// A stream without a tuning file must not get that of the previous stream.
    @Test func nextStreamChoosesItsOwnTuning() throws {
        let directory = "/tmp/tuning-\(getpid())"
        mkdir(directory, 0o700)
        close(creat("\(directory)/imx219_noir.json", 0o600))
        defer {
            unlink("\(directory)/imx219_noir.json")
            rmdir(directory)
        }
        func chosen() -> String? { getenv("LIBCAMERA_RPI_TUNING_FILE").map { String(cString: $0) } }
        let usual = chosen()
        CameraTuning.choose(try CameraTuning(named: "imx219_noir", camera: "front", directory: directory))
        #expect(chosen() == "\(directory)/imx219_noir.json")
        CameraTuning.choose(nil)
        #expect(chosen() == usual)
    }
}
