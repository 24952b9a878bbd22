import ApplianceLogic
import Media
import Settings
import StreamLogic
import StreamQuality

/// The latest state from the stream's events, for status and LED.
package struct StreamSummary {
    /// The window over which rates are averaged.
    private static let window = Duration.seconds(3)

    /// The snapshots inside the window.
    private var recent: [StreamSnapshot] = []
    package private(set) var status: StreamStatus?
    /// The encoders' targets, from the last status or change.
    package private(set) var point: OperatingPoint?
    /// Name of the active camera; `nil` if it has none, or before the first status.
    package private(set) var camera: String?
    /// What the open camera calls itself; `nil` before its first frame.
    package private(set) var cameraSource: String?
    /// Why the camera or a microphone delivers nothing.
    package private(set) var lost: [StreamTrack: String] = [:]
    /// Whether the quality is below that of the start.
    package private(set) var isLowered = false

    package init() {}

    /// Called for the first time before the stream is reported live.
    /// - Parameter snapshot: `nil` if no stream is live any longer.
    package mutating func streamChanged(_ snapshot: StreamSnapshot?) {
        guard let snapshot, snapshot.start != nil else { return }
        recent.removeAll { snapshot.time - $0.time > Self.window || $0.target != snapshot.target }
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

    /// - Parameter start: name of the quality that the stream started with.
    package mutating func eventHappened(_ event: StreamEvent, start: String) {
        switch event {
        case .status(let status): take(status)
        case .qualityChanged(let change):
            point = change.to
            status?.point = change.to
            guard change.to.videoQuality != nil, let startQuality = try? VideoQuality(named: start) else { return }
            isLowered = change.to.videoBitrate < startQuality.bitrate
        case .cameraSwitched(_, let name, _):
            camera = name
            cameraSource = nil
        case .source(.started(.camera(let name, _, _))): cameraSource = name
        case .source(.started(.microphone)): break
        case .source(.interrupted(let track, _, let reason)): lost[track] = reason
        case .source(.returned(let track, _, _)): lost[track] = nil
        case .muted(let isMuted): status?.isMuted = isMuted
        default: break
        }
    }
}

extension StreamEvent {
    /// Whether the event belongs in a small ring of events. Frequent events do not.
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
