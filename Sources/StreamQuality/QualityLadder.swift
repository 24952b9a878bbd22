import Media

/// Finds the row of the table that fits a bit rate.
struct QualityLadder: Sendable {
    /// A row is left for a higher one only when the bit rate exceeds that one's by this, so that a bit rate on a
    /// border does not make the frame rate jump.
    private static let hysteresis = 1.08

    /// - Parameters:
    ///   - current: the row that the stream is at.
    ///   - best: the row that it may not exceed.
    static func row(for bitrate: Bitrate, current: VideoQuality, best: VideoQuality) -> VideoQuality {
        let fitting = VideoQuality.allCases.last { row in
            let needed =
                row > current ? Double(row.bitrate.bitsPerSecond) * hysteresis : Double(row.bitrate.bitsPerSecond)
            return Double(bitrate.bitsPerSecond) >= needed || row == best && bitrate >= best.bitrate
        }
        return min(fitting ?? .low1, best)
    }

    /// The row of the same group that is nearest to `row`.
    static func nearest(to row: VideoQuality, in group: VideoQuality.Group) -> VideoQuality {
        switch group {
        case .high: max(row, .high1)
        case .lowAndMedium: min(row, .medium3)
        }
    }
}
