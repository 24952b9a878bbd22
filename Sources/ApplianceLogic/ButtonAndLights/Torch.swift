import Media
import StreamLogic

/// When the board's flash LED is lit, according to the files and to requests.
public struct Torch: Hashable, Sendable {
    public enum Mode: Hashable, Sendable {
        case off
        case on
        case whileLive
        /// While live in the dark.
        case automatic
    }

    var mode = Mode.off
    /// The mode in the files; a request may have changed it since.
    private var configuredMode = Mode.off
    private var policy = TorchPolicy()
    /// As last reported by the stream.
    private var brightness: Brightness?
    /// For a snapshot about to be taken.
    var isFlashing = false

    mutating func configured(as mode: Mode) {
        guard mode != configuredMode else { return }
        configuredMode = mode
        self.mode = mode
    }

    mutating func measured(_ brightness: Brightness, now: MediaTimestamp) {
        // The flash for a snapshot is not the room's light.
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
