import ApplianceLogic
import AudioCapture
import LibcameraCapture
import V4L2Devices

/// Cameras or microphones that the files could name instead of a missing one. Opens devices, which may take a while, so call it
/// on the stream's thread.
package func devicesInstead(of fault: ApplianceFault) -> [String] {
    switch fault {
    case .camera:
        let cameras = (try? CameraSystem.shared().cameras()) ?? []
        return cameras.map(\.id) + V4L2CameraDescription.all().map(\.path)
    case .microphone: return Microphone.all().map(\.device)
    default: return []
    }
}
