import Media
import StreamLogic
import StreamQuality

/// The terminal view of a stream: rendered from a snapshot, shown by `Console`.
struct LiveView {
    private static let barWidth = 30

    /// Lines for the terminal, with colors, each within `columns`.
    static func lines(_ snapshot: StreamSnapshot, _ sent: StreamRates, columns: Int) -> [String] {
        let head = "\(snapshot.target)  \(clock(snapshot.start.map { snapshot.time - $0 } ?? .zero))"
        let reason = snapshot.reason.map { "  (\($0.rawValue))" } ?? ""
        let target = snapshot.size == nil ? 0 : snapshot.point.frameRate.framesPerSecond
        let state = stateName(snapshot)
        let lost = snapshot.sent.framesText(snapshot.encoded)
        let sources = SourceSummary(snapshot.encoded, isMuted: snapshot.isMuted)
        let lines =
            [
                badge(snapshot) + "  " + clipped(head, to: columns - state.count - 6),
                clipped("  quality  \(snapshot.point.qualityName)\(size(snapshot))\(reason)", to: columns),
                "  video    \(fixed(sent.videoFramesPerSecond, width: 5, decimals: 1)) fps     "
                    + bar(sent.videoFramesPerSecond, of: Double(target), columns: columns)
                    + " of \(target)",
            ] + rates(snapshot, sent, columns: columns) + [
                "  buffer   \(fixed(snapshot.buffered.inSeconds, width: 5, decimals: 2)) s       "
                    + bufferBar(snapshot, columns: columns)
                    + " of \(fixed(snapshot.bufferLimits.maxDuration.inSeconds, decimals: 0))",
                clipped("  frames   \(lost)", to: columns),
            ]
        return lines + devices(sources).map { clipped($0, to: columns) } + level(snapshot, columns: columns)
    }

    /// The loudest sample of the last block: a full bar is 0 dBFS, an empty one -60.
    private static func level(_ snapshot: StreamSnapshot, columns: Int) -> [String] {
        let audio = snapshot.encoded.audioSource
        guard audio.capturedSamples + audio.silentSamples > 0 else { return [] }
        let peak = max(-60, audio.peakDecibels ?? -60)
        let number = audio.peakDecibels.map { fixed(max(-99.9, $0), width: 5, decimals: 1) } ?? " none"
        let line = "  level    \(number) dBFS    " + bar(peak + 60, of: 60, columns: columns)
        return [clipped(line + (snapshot.isMuted ? "  muted" : ""), to: columns)]
    }

    private static func size(_ snapshot: StreamSnapshot) -> String {
        guard let whole = snapshot.size else { return "" }
        guard let size = snapshot.point.frameSize, size != whole else { return " \(whole)" }
        return " \(size) of \(whole)"
    }

    private static func devices(_ sources: SourceSummary) -> [String] {
        [("camera ", sources.camera), ("audio  ", sources.microphone)].compactMap { name, text in
            text.map { "  \(name)  \($0)" }
        }
    }

    /// The sent, target and link rates on one scale.
    private static func rates(_ snapshot: StreamSnapshot, _ sent: StreamRates, columns: Int) -> [String] {
        let estimate = snapshot.linkEstimate
        let full = max(snapshot.largestBitrate, estimate ?? snapshot.largestBitrate).kilobitsPerSecond
        func line(_ name: String, _ rate: Bitrate) -> String {
            "  \(name)  \(fixed(rate.kilobitsPerSecond, width: 5, decimals: 0)) kbit/s  "
                + bar(rate.kilobitsPerSecond, of: full, columns: columns)
        }
        return [
            line("bitrate", sent.total), line("target ", snapshot.point.mediaBitrate),
            estimate.map { line("link   ", $0) } ?? "  link         ? kbit/s  not saturated yet",
        ]
    }

    private static func stateName(_ snapshot: StreamSnapshot) -> String {
        guard snapshot.state == .live else { return snapshot.state.rawValue }
        if snapshot.isStalled { return "stalled" }
        return snapshot.isPaused ? "paused" : "live"
    }

    /// The state in the tally light's color: red is live.
    private static func badge(_ snapshot: StreamSnapshot) -> String {
        let color =
            switch snapshot.state {
            case .live where snapshot.isPaused && !snapshot.isStalled: "44;97"
            case .live where !snapshot.isStalled: "41;97"
            case .connecting: "43;30"
            default: "100;97"
            }
        return "\u{1B}[1;\(color)m \(stateName(snapshot).uppercased()) \u{1B}[0m"
    }

    private static func width(_ columns: Int) -> Int { max(5, min(barWidth, columns - 40)) }

    private static func bar(_ value: Double, of full: Double, columns: Int) -> String {
        let width = width(columns)
        let filled = Int((share(value, of: full) * Double(width)).rounded())
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }

    /// Green below the low threshold, red above the high one.
    private static func bufferBar(_ snapshot: StreamSnapshot, columns: Int) -> String {
        let limits = snapshot.bufferLimits
        let share = share(snapshot.buffered.inSeconds, of: limits.maxDuration.inSeconds)
        let color = share < limits.lowThreshold ? "32" : share < limits.highThreshold ? "33" : "31"
        let bar = bar(share, of: 1, columns: columns)
        return "\u{1B}[\(color)m\(bar)\u{1B}[0m"
    }

    private static func share(_ value: Double, of full: Double) -> Double {
        full > 0 ? min(1, max(0, value / full)) : 0
    }

    private static func clock(_ duration: Duration) -> String {
        let seconds = Int(duration.inSeconds)
        let rest = String(seconds % 60)
        return "\(seconds / 60):\(rest.count < 2 ? "0" : "")\(rest)"
    }

    private static func clipped(_ text: String, to columns: Int) -> String {
        text.count <= columns ? text : String(text.prefix(max(0, columns - 1))) + "…"
    }
}
