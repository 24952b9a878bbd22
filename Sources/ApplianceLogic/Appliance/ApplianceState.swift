/// The state of the device as a whole, for LED, console and status.
public enum ApplianceState: Hashable, Sendable {
    case boot
    /// Reading new configuration.
    case updating
    /// Nothing can be streamed, or the last stream ended with this fault.
    case fault(ApplianceFault)
    case ready
    /// No stream; the camera's frames are recorded.
    case recording
    /// No stream; a program on a computer receives the camera's frames.
    case webcam
    /// No stream; a program on a computer waits until a person at the camera agrees.
    case asked
    /// No stream; a browser waits until a person at the camera admits it.
    case pairing
    case connecting
    case live
    case degraded
    /// Live without the hardware encoder, which is dead until the machine restarts.
    case liveInSoftware
    /// Live with a still frame and silence.
    case paused
    case reconnecting
    case stopping
    case shutdown

    /// Whether a server has accepted the stream and media flows.
    public var isLive: Bool {
        switch self {
        case .live, .degraded, .liveInSoftware, .paused: true
        default: false
        }
    }

    /// For events and status.
    public var name: String {
        switch self {
        case .boot: "boot"
        case .updating: "updating"
        case .fault(.network): "no network"
        case .fault: "fault"
        case .ready: "ready"
        case .recording: "recording"
        case .webcam: "webcam"
        case .asked: "waiting for a press"
        case .pairing: "pairing"
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
        case .recording: .quickHeartbeat
        case .asked, .pairing: .flicker
        case .connecting: .fast
        // Someone can see the camera's frames, which is what a tally light shows.
        case .live, .webcam: .steady
        case .degraded: .gaps
        case .liveInSoftware: .doubleGaps
        case .paused: .longDark
        case .reconnecting: .shortShortShortLong
        case .stopping, .shutdown: .verySlow
        }
    }
}
