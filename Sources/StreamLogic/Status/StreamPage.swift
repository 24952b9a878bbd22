import Media
import StreamQuality

/// The text that a screen shows about a live stream.
public struct StreamPage: Sendable {
    /// Averaging time of the rates.
    private static let window = Duration.seconds(2)
    /// Width of the level meter in characters; a character is 3 dB.
    private static let levelWidth = 20

    /// The snapshots within the window; the last one is shown.
    private var recent: [StreamSnapshot] = []

    public init() {}

    public mutating func update(_ snapshot: StreamSnapshot) {
        recent.removeAll { snapshot.time - $0.time > Self.window || $0.target != snapshot.target }
        recent.append(snapshot)
    }

    /// The stream is over.
    public mutating func end() { recent = [] }

    /// `nil` without a stream.
    public var page: ScreenPage? {
        guard let first = recent.first, let last = recent.last else { return nil }
        let rates = StreamRates(from: first.sent, to: last.sent, in: last.time - first.time)
        return ScreenPage(Self.tone(last), Self.headline(last), Self.lines(last, rates))
    }

    private static func tone(_ snapshot: StreamSnapshot) -> ScreenPage.Tone {
        switch snapshot.state {
        case .live: snapshot.isStalled || snapshot.isPaused ? .waiting : .live
        case .connecting, .reconnecting, .disconnecting: .waiting
        case .unknown, .disconnected: .idle
        case .error: .fault
        }
    }

    private static func headline(_ snapshot: StreamSnapshot) -> String {
        switch snapshot.state {
        case .live where snapshot.isStalled: "live, but nothing gets through"
        case .live:
            (snapshot.isPaused ? "paused " : "live ") + clock(snapshot.start.map { snapshot.time - $0 } ?? .zero)
        case .connecting: "connecting"
        case .reconnecting: "connection lost; reconnecting"
        case .disconnecting: "ending"
        case .unknown, .disconnected: "not live"
        case .error: "ended by a fault"
        }
    }

    /// `HH:MM:SS`.
    public static func clock(_ duration: Duration) -> String {
        let seconds = max(0, Int(duration.inSeconds))
        return [seconds / 3600, seconds / 60 % 60, seconds % 60].map { part in
            part < 10 ? "0\(part)" : "\(part)"
        }
        .joined(separator: ":")
    }

    private static func lines(_ snapshot: StreamSnapshot, _ rates: StreamRates) -> [String] {
        let target = snapshot.point.mediaBitrate.kilobitsPerSecond
        var lines = [
            "\(snapshot.point.qualityName)\(size(snapshot))  "
                + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) of \(fixed(target, decimals: 0)) kbit/s  "
                + "\(fixed(rates.videoFramesPerSecond, decimals: 0)) fps"
        ]
        if let level = level(snapshot.encoded.audioSource) {
            lines.append(snapshot.isMuted ? "audio  muted" : level)
        }
        return lines
    }

    private static func size(_ snapshot: StreamSnapshot) -> String {
        guard let size = snapshot.point.frameSize ?? snapshot.size else { return "" }
        return " \(size)"
    }

    /// `nil` without audio.
    private static func level(_ audio: AudioSourceStatistics) -> String? {
        guard audio.capturedSamples + audio.silentSamples > 0 else { return nil }
        guard let peak = audio.peakDecibels else { return "audio  silent" }
        let filled = min(levelWidth, max(0, levelWidth + Int((peak / 3).rounded())))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: levelWidth - filled)
        return "audio  [\(bar)] \(fixed(peak, decimals: 0)) dB"
    }
}
