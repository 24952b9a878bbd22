import ApplianceLogic
import DevicePorts
import V4L2Devices

extension VideoInput {
    /// The camera that a person means who names none: the first that gives pictures which can be encoded.
    static func firstCamera() throws -> VideoInput {
        let compressed: [FourCC] = [FourCC("MJPG"), FourCC("JPEG")]
        for path in (0..<64).map({ "/dev/video\($0)" }) {
            // A sensor's raw data, or a codec's nodes, are no camera.
            guard let camera = try? V4L2CameraDescription(at: path) else { continue }
            let isUsable = camera.modes.contains { PixelFormat($0.format) != nil || compressed.contains($0.format) }
            if isUsable { return .v4l2(CameraSettings(device: path)) }
        }
        throw CommandFailure(
            .media, code: EventCode.cameraUnavailable.rawValue, "there is no camera: \(cameraAbsenceReason())")
    }
}
