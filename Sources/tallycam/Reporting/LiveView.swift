import Media

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
        var targetBitrate: Bitrate
        var buffered: Duration
        var bufferLimit: Duration
        var videoFrames: Int
        var skippedFrames: Int
        var droppedFrames: Int
    }

    private static let barWidth = 30

    /// Lines for the terminal, with colours, each within `columns`.
    static func lines(_ snapshot: Snapshot, columns: Int) -> [String] {
        let size = snapshot.size.map { " \($0)" } ?? ""
        let head = "\(snapshot.target)  \(clock(snapshot.elapsed))"
        let rate = fixed(snapshot.framesPerSecond, width: 5, decimals: 1)
        let kilobits = fixed(snapshot.bitrate.kilobitsPerSecond, width: 5, decimals: 0)
        let seconds = fixed(snapshot.buffered.inSeconds, width: 5, decimals: 2)
        let lost =
            "\(snapshot.videoFrames) sent, \(snapshot.skippedFrames) skipped by the encoder, "
            + "\(snapshot.droppedFrames) dropped"
        return [
            badge(snapshot.state) + "  " + clipped(head, to: columns - snapshot.state.count - 6),
            clipped("  quality  \(snapshot.quality)\(size)", to: columns),
            "  picture  \(rate) fps     "
                + bar(snapshot.framesPerSecond, of: Double(snapshot.targetFramesPerSecond), columns: columns)
                + " of \(snapshot.targetFramesPerSecond)",
            "  bitrate  \(kilobits) kbit/s  "
                + bar(
                    snapshot.bitrate.kilobitsPerSecond, of: snapshot.targetBitrate.kilobitsPerSecond, columns: columns)
                + " of \(fixed(snapshot.targetBitrate.kilobitsPerSecond, decimals: 0))",
            "  buffer   \(seconds) s       "
                + bar(snapshot.buffered.inSeconds, of: snapshot.bufferLimit.inSeconds, columns: columns)
                + " of \(fixed(snapshot.bufferLimit.inSeconds, decimals: 0))",
            clipped("  frames   \(lost)", to: columns),
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

    private static func bar(_ value: Double, of full: Double, columns: Int) -> String {
        let width = max(5, min(barWidth, columns - 40))
        let share = full > 0 ? min(1, max(0, value / full)) : 0
        let filled = Int((share * Double(width)).rounded())
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
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
