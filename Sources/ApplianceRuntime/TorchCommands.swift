import ApplianceLogic
import Media
import Settings
import StreamLogic

// The torch as console and socket set it.
extension ApplianceRunner {
    /// - Parameter word: `nil` to ask whether it is lit.
    func torch(_ word: String?) -> CommandAnswer {
        if let problem = torchProblem(word) { return .failed(problem) }
        guard let torch = word.flatMap(DeviceDescription.Torch.init(rawValue:)) else {
            return CommandAnswer(text: torchText)
        }
        personActed()
        perform(appliance.torchRequested(torch.mode))
        watchBrightness()
        return CommandAnswer(text: torchText)
    }

    /// Why `torch` would be refused; `nil` when it would not.
    func torchProblem(_ word: String?) -> String? {
        if let torchAbsence { return torchAbsence }
        guard let word, DeviceDescription.Torch(rawValue: word) == nil else { return nil }
        let words = DeviceDescription.Torch.allCases.map(\.rawValue)
        let meant = NameSuggestion.question(for: word, among: words) ?? ""
        return "torch takes \(words.joined(separator: ", "))\(meant)"
    }

    /// Why there is no light to switch; `nil` where there is one.
    var torchAbsence: String? {
        files.board?.flashLED == nil ? "board.json names no flash LED" : board.faults["flashLED"]
    }

    private var torchText: String { appliance.isTorchLit ? "lit\n" : "dark\n" }

    /// Looking at frames costs something: only where the torch or a snapshot's flash follow them.
    func watchBrightness() {
        stream.send(.watchBrightness(appliance.torchMode == .automatic || files.device.snapshots.flash == .auto))
    }
}
