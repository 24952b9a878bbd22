import Media
import StreamLogic

/// When the board's flash LED is lit, by what the files say and somebody asks for.
public struct Torch: Hashable, Sendable {
    public enum Mode: Hashable, Sendable {
        case off
        case on
        case whileLive
        /// While live in the dark.
        case automatic
    }

    var mode = Mode.off
    /// What the files say; somebody may have asked for another one since.
    private var configuredMode = Mode.off
    private var policy = TorchPolicy()
    /// As the stream reported it last.
    private var brightness: Brightness?
    /// For a snapshot that is to be taken.
    var isFlashing = false

    mutating func configured(as mode: Mode) {
        guard mode != configuredMode else { return }
        configuredMode = mode
        self.mode = mode
    }

    mutating func measured(_ brightness: Brightness, now: MediaTimestamp) {
        // What shines for a snapshot is not the room's light.
        guard !isFlashing else { return }
        self.brightness = brightness
        policy.measured(brightness, now: now)
    }

    mutating func streamEnded() { (policy, brightness) = (TorchPolicy(), nil) }

    func isWanted(whileLive isLive: Bool) -> Bool {
        if isFlashing { return true }
        return switch mode {
        case .off: false
        case .on: true
        case .whileLive: isLive
        case .automatic: isLive && policy.isLit
        }
    }

    var isDark: Bool? { brightness.map { policy.isLit || TorchPolicy.isDark($0) } }
}
