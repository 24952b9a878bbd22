import ApplianceLogic
import AudioCapture
import LibcameraCapture
import V4L2Devices

/// Cameras or microphones that the files could name instead of a missing one. Opens devices, so call it on a thread that may
/// hang.
package func devicesInstead(of fault: ApplianceFault) -> [String] {
    switch fault {
    case .camera:
        let cameras = (try? CameraSystem.shared().cameras()) ?? []
        return cameras.map(\.id) + V4L2CameraDescription.all().map(\.path)
    case .microphone: return Microphone.all().map(\.device)
    default: return []
    }
}

/// The machine's cameras or microphones, as the files name them. See `devicesInstead`.
package func listDevices(_ kind: DeviceList.Kind) -> DeviceList {
    switch kind {
    case .cameras: listCameras()
    case .microphones: listMicrophones()
    }
}

private func listCameras() -> DeviceList {
    var list = DeviceList()
    do {
        list.devices = try CameraSystem.shared().cameras().map { camera in
            ListedDevice(
                camera.id, label: camera.model, aliases: camera.location.map { ["\($0)"] } ?? [])
        }
    } catch {
        switch error {
        case .none: break
        default: list.notes.append("\(error)")
        }
    }
    let webcams = V4L2CameraDescription.all { list.notes.append("\($0)") }
    list.devices += webcams.map { ListedDevice($0.path, label: $0.name) }
    if list.devices.isEmpty {
        list.notes.append(CameraAbsence().reason)
    } else if let note = CameraAbsence().note {
        list.notes.append(note)
    }
    return list
}

private func listMicrophones() -> DeviceList {
    let microphones = Microphone.all()
    return DeviceList(
        microphones.map { ListedDevice($0.device, label: $0.name, aliases: [$0.numberedDevice]) },
        notes: microphones.isEmpty ? [Microphone.absence] : [])
}

/// The machine's hardware encoders. Asks drivers, which may take a while.
package func findHardwareEncoders() -> EncoderFinding {
    var finding = EncoderFinding()
    let encoders = V4L2EncoderNode.all { error, _ in finding.unanswered.append("\(error)") }
    finding.hardware = encoders.map { "\($0.name) (\($0.path))" }
    return finding
}
