import Glibc
import LinuxIO

/// A tuning file for a Raspberry Pi's sensor. libcamera picks it by the sensor's name. A module without an infrared filter
/// needs a different one, but only Module 3 (IMX708) shows the variant in its name.
public struct CameraTuning: Hashable, Sendable {
    static let directory = "/usr/share/libcamera/ipa/rpi/vc4"
    /// libcamera's image-processing module checks this variable before it looks for the sensor's own file.
    private static let variable = "LIBCAMERA_RPI_TUNING_FILE"

    let path: String

    /// - Parameter name: without the extension: `imx219_noir`.
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

    /// The variable's value when the program started.
    private static let environment = getenv(variable).map { String(cString: $0) }

    /// Sets the tuning for the next manager. The caller must hold the manager's lock.
    /// - Parameter tuning: `nil` for the environment's value, or libcamera's own choice.
    static func choose(_ tuning: CameraTuning?) {
        // Read before the first change.
        let usual = environment
        if let path = tuning?.path ?? usual { setenv(variable, path, 1) } else { unsetenv(variable) }
    }
}
