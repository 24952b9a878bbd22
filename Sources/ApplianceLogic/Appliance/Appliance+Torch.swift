import Media
import StreamLogic

extension Appliance {
    /// Applies until the files set another mode.
    public mutating func torchRequested(_ mode: Torch.Mode) -> [Action] {
        torch.mode = mode
        return updated()
    }

    public mutating func torchToggled() -> [Action] { torchRequested(isTorchLit ? .off : .on) }

    /// Lights the torch for a snapshot, or returns to its previous state.
    public mutating func flashRequested(_ isFlashing: Bool) -> [Action] {
        torch.isFlashing = isFlashing
        return updated()
    }

    public mutating func brightnessMeasured(_ brightness: Brightness, now: MediaTimestamp) -> [Action] {
        torch.measured(brightness, now: now)
        return updated()
    }

    public var torchMode: Torch.Mode { torch.mode }
    /// Whether a snapshot needs the torch; `nil` if nothing live measures the brightness.
    public var isDark: Bool? { torch.isDark }
}
