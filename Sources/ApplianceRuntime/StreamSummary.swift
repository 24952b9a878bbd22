import ApplianceLogic
import Media
import Settings
import StreamLogic
import StreamQuality

/// What the stream's events have said last, for status and LED.
struct StreamSummary {
    private(set) var status: StreamStatus?
    /// What the encoders are meant to give, by the last status or change.
    private(set) var point: OperatingPoint?
    /// The one that is on; `nil` where it has no name, and before the first status.
    private(set) var camera: String?
    /// Lower than where the stream started.
    private(set) var isLowered = false

    /// - Parameter start: the name of the quality that the stream started with.
    mutating func eventHappened(_ event: StreamEvent, start: String) {
        switch event {
        case .status(let status):
            self.status = status
            camera = status.camera
            point = status.point
        case .qualityChanged(let change):
            point = change.to
            guard change.to.videoQuality != nil, let startQuality = try? VideoQuality(named: start) else { return }
            isLowered = change.to.videoBitrate < startQuality.bitrate
        case .cameraSwitched(_, let name, _): camera = name
        default: break
        }
    }
}

extension StreamEvent {
    /// Whether it belongs into a ring of few events: what comes many times a minute does not.
    var isWorthKeeping: Bool {
        switch self {
        case .connected, .tlsFallback, .publishing, .retry, .reconnecting, .serverChanged, .serverChangeFailed,
            .qualityChanged, .uplinkTooSlow, .bufferFull, .serverAway, .softwareEncoderInUse, .encoderRestarted,
            .hardwareEncoderDead, .source, .sourceEnded, .cameraSwitched, .cameraSwitchFailed, .filterDropped,
            .filterRestored, .configured, .controlled, .filtered, .refused, .muted, .paused, .pauseImageUnusable,
            .preview, .ended,
            .fileEnded, .failed:
            true
        case .stateChanged, .status, .fileStatus, .measured, .bufferEmpty, .bufferHigh, .bufferLow, .bufferDuration,
            .dropped, .snapshot, .linkDown, .linkUp:
            false
        }
    }
}

extension DeviceDescription.Torch {
    var mode: Torch.Mode {
        switch self {
        case .off: .off
        case .on: .on
        case .live: .whileLive
        case .auto: .automatic
        }
    }

    init(_ mode: Torch.Mode) {
        self =
            switch mode {
            case .off: .off
            case .on: .on
            case .whileLive: .live
            case .automatic: .auto
            }
    }
}
