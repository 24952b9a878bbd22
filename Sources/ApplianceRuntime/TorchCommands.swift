import ApplianceLogic
import CommandChannels
import LinuxIO
import Media
import Settings
import StreamLogic

// The torch.
extension CommandService {
    /// - Parameter torch: `nil` to ask whether it is lit.
    func torch(_ torch: DeviceDescription.Torch?) -> CommandAnswer {
        if let absence = device.torchAbsence { return .failed(absence) }
        guard let torch else { return torchAnswer }
        device.personActed()
        device.perform(device.appliance.torchRequested(torch.mode))
        device.watchBrightness()
        return torchAnswer
    }

    func toggleTorch() -> CommandAnswer {
        if let absence = device.torchAbsence { return .failed(absence) }
        device.perform(device.appliance.torchToggled())
        device.watchBrightness()
        device.tell(.torch(isLit: device.appliance.isTorchLit))
        return torchAnswer
    }

    /// Why `set torch` would be refused; `nil` if it would work.
    func torchRefusal(_ word: String) -> ApplianceRefusal? {
        device.torchAbsence ?? (DeviceDescription.Torch(rawValue: word) == nil ? .unknownTorchMode(word) : nil)
    }

    private var torchAnswer: CommandAnswer { .done([device.appliance.isTorchLit ? "lit" : "dark"]) }
}

extension ApplianceDevice {
    /// Why there is no light to switch; `nil` if there is one.
    var torchAbsence: ApplianceRefusal? {
        files.board?.flashLED == nil ? .noFlashLED : board.faults["flashLED"].map { .flashLED(reason: "\($0)") }
    }

    /// Analyzing frames takes time, so do it only if the torch or a snapshot's flash depends on it.
    func watchBrightness() {
        stream.send(.watchBrightness(appliance.torchMode == .automatic || files.device.snapshots.flash == .auto))
    }
}
