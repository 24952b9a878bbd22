import ApplianceLogic
import AudioCapture
import LibcameraCapture
import V4L2Devices

/// What the files could name in place of a camera or microphone that was not there. It opens devices, which may take its
/// time: for the stream's thread.
package func devicesInstead(of fault: ApplianceFault) -> [String] {
    switch fault {
    case .camera:
        let cameras = (try? CameraSystem.shared().cameras()) ?? []
        return cameras.map(\.id) + V4L2CameraDescription.all().map(\.path)
    case .microphone: return Microphone.all().map(\.device)
    default: return []
    }
}
