import Media
import StreamLogic
import StreamQuality

/// The terminal view of a stream: rendered from a snapshot, shown by `Console`.
struct LiveView {
    /// What one redraw shows.
    struct Snapshot {
        var state: String
        var target: String
        var elapsed: Duration
        var quality: String
        var size: PictureSize?
        var framesPerSecond: Double
        var targetFramesPerSecond: Int
        var bitrate: Bitrate
        /// What the encoders are meant to give now, and what they may give at most.
        var targetBitrate: Bitrate
        var largestBitrate: Bitrate
        var linkEstimate: Bitrate?
        /// Why the target changed last.
        var reason: String?
        var buffered: Duration
        var bufferLimits: SendBufferLimits
        var videoFrames: Int
        var skippedFrames: Int
        var droppedFrames: Int
        var decimatedFrames: Int
        var sources: SourceSummary
    }

    private static let barWidth = 30

    /// Lines for the terminal, with colours, each within `columns`.
    static func lines(_ snapshot: Snapshot, columns: Int) -> [String] {
        let size = snapshot.size.map { " \($0)" } ?? ""
        let head = "\(snapshot.target)  \(clock(snapshot.elapsed))"
        let reason = snapshot.reason.map { "  (\($0))" } ?? ""
        let lost =
            "\(snapshot.videoFrames) sent, \(snapshot.skippedFrames) skipped by the encoder, "
            + "\(snapshot.droppedFrames) dropped, \(snapshot.decimatedFrames) decimated"
        return [
            badge(snapshot.state) + "  " + clipped(head, to: columns - snapshot.state.count - 6),
            clipped("  quality  \(snapshot.quality)\(size)\(reason)", to: columns),
            "  picture  \(fixed(snapshot.framesPerSecond, width: 5, decimals: 1)) fps     "
                + bar(snapshot.framesPerSecond, of: Double(snapshot.targetFramesPerSecond), columns: columns)
                + " of \(snapshot.targetFramesPerSecond)",
        ] + rates(snapshot, columns: columns) + [
            "  buffer   \(fixed(snapshot.buffered.inSeconds, width: 5, decimals: 2)) s       "
                + bufferBar(snapshot, columns: columns)
                + " of \(fixed(snapshot.bufferLimits.maxDuration.inSeconds, decimals: 0))",
            clipped("  frames   \(lost)", to: columns),
        ] + devices(snapshot.sources).map { clipped($0, to: columns) }
    }

    private static func devices(_ sources: SourceSummary) -> [String] {
        [("camera ", sources.camera), ("sound  ", sources.microphone)].compactMap { name, text in
            text.map { "  \(name)  \($0)" }
        }
    }

    /// What is sent, what is meant to be, and what the link carries, on one scale.
    private static func rates(_ snapshot: Snapshot, columns: Int) -> [String] {
        let estimate = snapshot.linkEstimate
        let full = max(snapshot.largestBitrate, estimate ?? snapshot.largestBitrate).kilobitsPerSecond
        func line(_ name: String, _ rate: Bitrate) -> String {
            "  \(name)  \(fixed(rate.kilobitsPerSecond, width: 5, decimals: 0)) kbit/s  "
                + bar(rate.kilobitsPerSecond, of: full, columns: columns)
        }
        return [
            line("bitrate", snapshot.bitrate), line("target ", snapshot.targetBitrate),
            estimate.map { line("link   ", $0) } ?? "  link         ? kbit/s  never full so far",
        ]
    }

    /// The state as the tally light shows it: red is live.
    private static func badge(_ state: String) -> String {
        let colour =
            switch state {
            case "live": "41;97"
            case "connecting": "43;30"
            default: "100;97"
            }
        return "\u{1B}[1;\(colour)m \(state.uppercased()) \u{1B}[0m"
    }

    private static func width(_ columns: Int) -> Int { max(5, min(barWidth, columns - 40)) }

    private static func bar(_ value: Double, of full: Double, columns: Int) -> String {
        let width = width(columns)
        let filled = Int((share(value, of: full) * Double(width)).rounded())
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }

    /// Green below the low threshold, red above the high one.
    private static func bufferBar(_ snapshot: Snapshot, columns: Int) -> String {
        let limits = snapshot.bufferLimits
        let share = share(snapshot.buffered.inSeconds, of: limits.maxDuration.inSeconds)
        let colour = share < limits.lowThreshold ? "32" : share < limits.highThreshold ? "33" : "31"
        let bar = bar(share, of: 1, columns: columns)
        return "\u{1B}[\(colour)m\(bar)\u{1B}[0m"
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
