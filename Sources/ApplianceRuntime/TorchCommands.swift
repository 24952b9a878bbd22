import ApplianceLogic
import Media
import Settings
import StreamLogic

// The torch as console and socket set it.
extension ApplianceRunner {
    /// - Parameter word: `nil` to ask whether it is lit.
    func torch(_ word: String?) -> CommandAnswer {
        guard files.board?.flashLED != nil else { return .failed("board.json names no flash LED") }
        guard let word else { return CommandAnswer(text: torchText) }
        let words = DeviceDescription.Torch.allCases.map(\.rawValue)
        guard let torch = DeviceDescription.Torch(rawValue: word) else {
            let meant = NameSuggestion.nearest(to: word, among: words).map { "; did you mean \($0)?" } ?? ""
            return .failed("torch takes \(words.joined(separator: ", "))\(meant)")
        }
        personActed()
        perform(appliance.torchRequested(torch.mode))
        watchBrightness()
        return CommandAnswer(text: torchText)
    }

    private var torchText: String { appliance.isTorchLit ? "lit\n" : "dark\n" }

    /// Looking at frames costs something: only where the torch or a snapshot's flash follow them.
    func watchBrightness() {
        stream.send(.watchBrightness(appliance.torchMode == .automatic || files.device.snapshots.flash == .auto))
    }
}
