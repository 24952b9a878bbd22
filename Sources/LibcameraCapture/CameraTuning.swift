import Glibc
import LinuxIO

/// A tuning file for a Raspberry Pi's sensor. libcamera finds it by the sensor's name; a module without infrared filter needs
/// another one, and only Module 3 (IMX708) tells in its name that it is one.
public struct CameraTuning: Hashable, Sendable {
    static let directory = "/usr/share/libcamera/ipa/rpi/vc4"
    /// What libcamera's image-processing module looks at before it looks for the sensor's own file.
    private static let variable = "LIBCAMERA_RPI_TUNING_FILE"

    let path: String

    /// - Parameter name: without the ending: `imx219_noir`.
    public init(named name: String, camera: String) throws(CameraError) {
        try self.init(named: name, camera: camera, directory: Self.directory)
    }

    init(named name: String, camera: String, directory: String) throws(CameraError) {
        let path = "\(directory)/\(name).json"
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), access(path, R_OK) == 0 else {
            throw .noTuning(camera: camera, name: name, directory: directory)
        }
        self.path = path
    }

    /// What the environment said when the program started.
    private static let environment = getenv(variable).map { String(cString: $0) }

    /// For the next manager. The caller has it to itself meanwhile.
    /// - Parameter tuning: `nil` for what the environment says, or libcamera finds by itself.
    static func choose(_ tuning: CameraTuning?) {
        // Read before it is changed for the first time.
        let usual = environment
        if let path = tuning?.path ?? usual { setenv(variable, path, 1) } else { unsetenv(variable) }
    }
}
