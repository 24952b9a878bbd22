import Media

/// Finds the row of the table, and its frame rate, that fit a bit rate.
enum QualityLadder {
    /// A row is left for a higher one only when the bit rate exceeds that one's by so much, so that a bit rate on a
    /// border does not make the frame rate jump.
    private static let hysteresis = 1.08

    /// The point with its bit rate cut to what the settings and the tier allow, and with the row and the frame rate
    /// that belong to it. Inside High, a bit rate below High1's takes the frame rate of the row that it would be in.
    static func fitted(
        _ point: OperatingPoint, to settings: QualitySettings, tier: VideoQuality.ProfileTier
    ) -> OperatingPoint {
        var point = point
        guard let best = settings.videoQuality else {
            point.videoQuality = nil
            point.videoBitrate = .zero
            return point
        }
        let range = settings.bitrateRange
        let tierBest = tier == .lowAndMedium ? min(best, .medium3) : best
        let ceiling = tierBest == best ? range.maximum : min(range.maximum, tierBest.bitrate)
        point.videoBitrate = min(max(point.videoBitrate, range.minimum), ceiling)
        let row = row(for: point.videoBitrate, current: point, best: tierBest, settings)
        point.videoQuality = tier == .high ? max(row, .high1) : row
        point.frameRate = settings.frameRate(atMost: max(row.frameRate, settings.leastFrameRate))
        return point
    }

    private static func row(
        for bitrate: Bitrate, current: OperatingPoint, best: VideoQuality, _ settings: QualitySettings
    ) -> VideoQuality {
        let fitting = VideoQuality.allCases.last { row in
            guard row <= best else { return false }
            let isFaster = settings.frameRate(atMost: row.frameRate) > current.frameRate
            let isHigher = isFaster || row > current.videoQuality ?? best
            return bitrate >= row.bitrate * (isHigher && row < best ? hysteresis : 1)
        }
        return fitting ?? min(.low1, best)
    }

    /// The next lower frame rate of the table.
    static func frameRate(below rate: FrameRate) -> FrameRate? {
        VideoQuality.allCases.map(\.frameRate).filter { $0 < rate }.max()
    }
}
