import Media
import StreamLogic

extension Appliance {
    /// Holds until the files say something else.
    public mutating func torchRequested(_ mode: Torch.Mode) -> [Action] {
        torch.mode = mode
        return updated()
    }

    public mutating func torchToggled() -> [Action] { torchRequested(isTorchLit ? .off : .on) }

    /// Lights the torch for a snapshot, or lets it be again as it was.
    public mutating func flashRequested(_ isFlashing: Bool) -> [Action] {
        torch.isFlashing = isFlashing
        return updated()
    }

    public mutating func brightnessMeasured(_ brightness: Brightness, now: MediaTimestamp) -> [Action] {
        torch.measured(brightness, now: now)
        return updated()
    }

    public var torchMode: Torch.Mode { torch.mode }
    /// Whether a snapshot wants the torch; `nil` when nothing is live that would show it.
    public var isDark: Bool? { torch.isDark }
}
