import ApplianceLogic
import Media
import Settings
import StreamLogic
import StreamQuality

/// What the stream's events have said last, for status and LED.
package struct StreamSummary {
    /// What the rates are averaged over.
    private static let window = Duration.seconds(3)

    /// The snapshots of the window.
    private var recent: [StreamSnapshot] = []
    package private(set) var status: StreamStatus?
    /// What the encoders are meant to give, by the last status or change.
    package private(set) var point: OperatingPoint?
    /// The one that is on; `nil` where it has no name, and before the first status.
    package private(set) var camera: String?
    /// Lower than where the stream started.
    package private(set) var isLowered = false

    package init() {}

    /// The first one comes before the stream is said to be live.
    /// - Parameter snapshot: `nil` when nothing is live any more.
    package mutating func streamChanged(_ snapshot: StreamSnapshot?) {
        guard let snapshot, snapshot.start != nil else { return }
        recent.removeAll { snapshot.time - $0.time > Self.window }
        recent.append(snapshot)
        let first = recent[0]
        let rates = StreamRates(from: first.sent, to: snapshot.sent, in: snapshot.time - first.time)
        take(StreamStatus(snapshot, rates: rates))
    }

    private mutating func take(_ status: StreamStatus) {
        self.status = status
        camera = status.camera
        point = status.point
    }

    /// - Parameter start: the name of the quality that the stream started with.
    package mutating func eventHappened(_ event: StreamEvent, start: String) {
        switch event {
        case .status(let status): take(status)
        case .qualityChanged(let change):
            point = change.to
            status?.point = change.to
            guard change.to.videoQuality != nil, let startQuality = try? VideoQuality(named: start) else { return }
            isLowered = change.to.videoBitrate < startQuality.bitrate
        case .cameraSwitched(_, let name, _): camera = name
        case .muted(let isMuted): status?.isMuted = isMuted
        default: break
        }
    }
}

extension StreamEvent {
    /// Whether it belongs into a ring of few events: what comes many times a minute does not.
    package var isWorthKeeping: Bool {
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
    package var mode: Torch.Mode {
        switch self {
        case .off: .off
        case .on: .on
        case .live: .whileLive
        case .auto: .automatic
        }
    }

    package init(_ mode: Torch.Mode) {
        self =
            switch mode {
            case .off: .off
            case .on: .on
            case .whileLive: .live
            case .automatic: .auto
            }
    }
}
