import Controls
import Filters
import Media
import StreamQuality

// The texts and fields of the events. Renderings longer than a line are in the neighboring files, by kind.
extension StreamEvent: Event {
    public var code: EventCode? {
        switch self {
        case .stateChanged: .stateChanged
        case .connected: .connected
        case .publishing: .publishing
        case .retry(_, let stage): stage.code
        case .reconnecting: .reconnecting
        case .serverChanged: .serverChanged
        case .serverChangeFailed: .serverChangeFailed
        case .status, .fileStatus: .status
        case .qualityChanged: .qualityChanged
        case .uplinkTooSlow, .bufferFull: .uplinkTooSlow
        case .softwareEncoderInUse: .softwareEncoderInUse
        case .encoderRestarted: .encoderRestarted
        case .hardwareEncoderDead: .hardwareEncoderDead
        case .paused: .paused
        case .pauseImageUnusable: .pauseImageUnusable
        case .failed(let code, _): code
        case .tlsFallback, .linkDown, .linkUp, .measured, .bufferEmpty, .bufferHigh, .bufferLow, .serverAway,
            .bufferDuration, .dropped, .source, .sourceEnded, .cameraSwitched, .cameraSwitchFailed, .filterDropped,
            .filterRestored, .configured, .controlled, .filtered, .refused, .muted, .snapshot, .preview, .ended,
            .fileEnded:
            nil
        }
    }

    /// Spelled out for the same reason as `EventCode.name`.
    public var name: String {
        switch self {
        case .stateChanged, .connected, .publishing, .retry, .reconnecting, .serverChanged, .serverChangeFailed,
            .status, .fileStatus, .qualityChanged, .uplinkTooSlow, .softwareEncoderInUse, .encoderRestarted,
            .hardwareEncoderDead, .paused, .pauseImageUnusable:
            code?.name ?? ""
        case .tlsFallback: "tlsFallback"
        case .linkDown: "linkDown"
        case .linkUp: "linkUp"
        case .measured: "measured"
        case .bufferEmpty: "bufferEmpty"
        case .bufferHigh: "bufferHigh"
        case .bufferLow: "bufferLow"
        case .bufferFull: "bufferFull"
        case .serverAway: "serverAway"
        case .bufferDuration: "bufferDuration"
        case .dropped: "dropped"
        case .source(.started(.camera)): "cameraStarted"
        case .source(.started(.microphone)): "microphoneStarted"
        case .source(.interrupted): "sourceInterrupted"
        case .source(.returned): "sourceReturned"
        case .sourceEnded: "sourceEnded"
        case .cameraSwitched: "cameraSwitched"
        case .cameraSwitchFailed: "cameraSwitchFailed"
        case .filterDropped: "filterDropped"
        case .filterRestored: "filterRestored"
        case .configured: "configured"
        case .controlled: "controlled"
        case .filtered: "filtered"
        case .refused: "refused"
        case .muted: "muted"
        case .snapshot(let answer): answer.name
        case .preview(let event): event.name
        case .ended, .fileEnded: "ended"
        case .failed: "failed"
        }
    }

    public var text: String? {
        switch self {
        case .stateChanged(let state): "state: \(state.rawValue)"
        case .connected(let server): "connected to \(server)"
        case .tlsFallback(let reason): reason
        case .publishing(let destination): "live at \(destination)"
        case .retry(let failure, _): failure.text
        case .reconnecting(let attempt, let limit, let delay):
            "reconnecting in \(fixed(delay.inSeconds, decimals: 1)) s (attempt \(attempt)"
                + (limit.map { " of \($0))" } ?? ")")
        case .serverChangeFailed(let failure): "\(EventCode.serverChangeFailed.meaning): \(failure.text)"
        case .serverChanged, .uplinkTooSlow: code?.meaning
        case .linkDown: "the network link is down; waiting for it to return"
        case .linkUp: "the network link is up"
        case .status(let status): status.text
        case .fileStatus(let status): status.text
        case .qualityChanged(let change): change.text
        case .bufferEmpty, .bufferHigh, .bufferLow, .bufferFull, .serverAway: bufferText
        // Several per second: people read the status and a summary of drops instead.
        case .measured, .bufferDuration, .dropped: nil
        case .softwareEncoderInUse(let reason), .encoderRestarted(let reason), .hardwareEncoderDead(let reason):
            "\(code?.meaning ?? ""): \(reason)"
        case .source(let event): event.text
        case .sourceEnded(_, let note): note
        case .cameraSwitched, .cameraSwitchFailed, .filterDropped, .filterRestored: changeText
        case .configured(let configuration): "now \(configuration.line)"
        case .controlled(let readings): "now \(readings.line)"
        case .filtered(let chain):
            chain.isEmpty ? "filters: none" : "filters: \(chain.settings.map(\.description).joined(separator: " "))"
        case .refused(let refusal): "refused: \(refusal)"
        case .muted(let isMuted): isMuted ? "muted: sending silence" : "no longer muted"
        case .paused(let isPaused): isPaused ? "paused: sending a still frame and silence" : "no longer paused"
        case .pauseImageUnusable(let reason): "\(code?.meaning ?? ""): \(reason)"
        case .snapshot(let answer): answer.text
        case .preview(let event): event.text
        case .ended(let encoded, let sent, let seconds): sent.totalsText(encoded, audioSeconds: seconds)
        case .fileEnded(let tally): tally.totalsText
        // People read it in the program's last line.
        case .failed: nil
        }
    }

    private var bufferText: String? {
        switch self {
        case .bufferEmpty: "the send buffer is empty"
        case .bufferHigh: "the send buffer rose above its high threshold"
        case .bufferLow: "the send buffer fell below its low threshold"
        case .bufferFull: "the uplink is too slow: the send buffer is full"
        case .serverAway: "the server accepts no data: the send buffer is full"
        default: nil
        }
    }

    /// Text of a change that is visible in the video.
    private var changeText: String? {
        switch self {
        case .cameraSwitched(let from, let to, let duration):
            "switched from \(from) to \(to) in \(fixed(duration.inSeconds, decimals: 1)) s"
        case .cameraSwitchFailed(let name, let reason, let present):
            CommandRefusal.cameraUnavailable(name, reason: reason, keeping: present).description
        case .filterDropped(let filter): "filter \(filter) is turned off: it takes too much time"
        case .filterRestored(let filter): "filter \(filter) is on again"
        default: nil
        }
    }

    public var fields: [EventField] {
        switch self {
        case .stateChanged(let state): [("state", .text(state.rawValue))]
        case .connected(let server): [("server", .text(server))]
        case .publishing, .serverChanged, .linkDown, .linkUp, .bufferEmpty, .bufferHigh, .bufferLow, .bufferFull,
            .serverAway:
            []
        case .retry(let failure, _), .serverChangeFailed(let failure):
            [("cause", .integer(failure.code)), ("reason", .text(failure.text))]
        case .reconnecting(let attempt, let limit, let delay):
            [("attempt", .integer(attempt))] + (limit.map { [("limit", .integer($0))] } ?? [])
                + [("delay", .number(delay.inSeconds))]
        case .status(let status): status.fields
        case .fileStatus(let status): status.fields
        case .qualityChanged(let change): change.fields
        case .uplinkTooSlow(let bitrate): [("bitsPerSecond", .integer(bitrate.bitsPerSecond))]
        case .measured(let measurement, let estimate): measurement.fields(linkEstimate: estimate)
        case .bufferDuration(let duration): [("seconds", .number(duration.inSeconds))]
        case .dropped(let item, let time): item.fields(time: time)
        case .softwareEncoderInUse(let reason), .encoderRestarted(let reason), .hardwareEncoderDead(let reason),
            .tlsFallback(let reason), .pauseImageUnusable(let reason):
            [("reason", .text(reason))]
        case .refused(let refusal): [("kind", .text(refusal.name)), ("reason", .text(refusal.description))]
        case .source(let event): event.fields
        case .sourceEnded(let track, _): [("track", .text(track.rawValue))]
        case .cameraSwitched(let from, let to, let duration):
            [("from", .text(from)), ("to", .text(to)), ("seconds", .number(duration.inSeconds))]
        case .cameraSwitchFailed(let name, let reason, let present):
            [("camera", .text(name)), ("reason", .text(reason)), ("keeping", .text(present))]
        case .filterDropped(let filter), .filterRestored(let filter): [("filter", .text("\(filter)"))]
        case .configured(let configuration): [("settings", .text(configuration.line))]
        case .controlled(let readings): [("controls", .text(readings.line))]
        case .filtered(let chain): [("filters", .texts(chain.settings.map(\.description)))]
        case .muted(let isMuted): [("muted", .flag(isMuted))]
        case .paused(let isPaused): [("paused", .flag(isPaused))]
        case .snapshot(let answer): answer.fields
        case .preview(let event): event.fields
        case .ended(let encoded, let sent, let seconds): sent.totalsFields(encoded, audioSeconds: seconds)
        case .fileEnded(let tally): tally.totalsFields
        case .failed(_, let message): [("message", .text(message))]
        }
    }
}

extension StreamEvent.RetryStage {
    var code: EventCode {
        switch self {
        case .lookup: .retryAfterLookup
        case .connect: .retryAfterConnect
        case .handshake: .retryAfterHandshake
        case .close: .retryAfterClose
        }
    }
}

extension [ControlReading] {
    fileprivate var line: String { map(\.description).joined(separator: ", ") }
}

extension LiveConfiguration {
    /// All settings, as commands take them.
    fileprivate var line: String { values.map(\.description).joined(separator: ", ") }
}
