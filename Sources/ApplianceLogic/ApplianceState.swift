/// What the device as a whole is doing, for LED, console and status.
public enum ApplianceState: Hashable, Sendable {
    case boot
    /// Reading new configuration.
    case updating
    /// Nothing can be streamed, or the last stream ended by it.
    case fault(ApplianceFault)
    case ready
    /// No stream; a program on a computer has the camera's frames.
    case webcam
    /// No stream; a program on a computer waits until somebody at the camera agrees.
    case asked
    case connecting
    case live
    /// Live with the quality lowered.
    case degraded
    /// Live without the hardware encoder, which is dead until the machine restarts.
    case liveInSoftware
    /// Live with a still and silence.
    case paused
    case reconnecting
    case stopping
    case shutdown

    /// For events and status.
    public var name: String {
        switch self {
        case .boot: "boot"
        case .updating: "updating"
        case .fault(.network): "no network"
        case .fault: "fault"
        case .ready: "ready"
        case .webcam: "webcam"
        case .asked: "waiting for a press"
        case .connecting: "connecting"
        case .live: "live"
        case .degraded: "degraded"
        case .liveInSoftware: "live in software"
        case .paused: "paused"
        case .reconnecting: "reconnecting"
        case .stopping: "stopping"
        case .shutdown: "shutdown"
        }
    }

    public var pattern: LEDPattern {
        switch self {
        case .boot: .slow
        case .updating: .shortShortLong
        case .fault(let fault): .count(fault.blinkCount)
        case .ready: .heartbeat
        case .asked: .flicker
        case .connecting: .fast
        // Somebody sees what the camera sees: that is what a tally light is for.
        case .live, .webcam: .steady
        case .degraded: .gaps
        case .liveInSoftware: .doubleGaps
        case .paused: .longDark
        case .reconnecting: .shortShortShortLong
        case .stopping, .shutdown: .verySlow
        }
    }
}
