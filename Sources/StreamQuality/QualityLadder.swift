import Media

/// Finds the row of the quality table, and its frame rate, for a bit rate.
enum QualityLadder {
    /// The bit rate must exceed a higher row's by this factor before that row is used, so that a rate near the boundary
    /// does not make the frame rate jump.
    private static let hysteresis = 1.08

    /// The point with its bit rate limited by the settings and the tier, and with the matching row and frame rate. In
    /// the High tier, a bit rate below High1's uses the frame rate of the row that it would otherwise belong to.
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
        let tierBest = tier == .lowAndMedium && best.tier == .high ? .medium3 : best
        let ceiling = tierBest == best ? range.maximum : min(range.maximum, tierBest.bitrate)
        point.videoBitrate = min(max(point.videoBitrate, range.minimum), ceiling)
        let row = row(for: point.videoBitrate, current: point, best: tierBest, settings)
        point.videoQuality = tier == .high ? max(row, .high1) : row
        point.frameRate = settings.frameRate(atMost: min(max(row.frameRate, settings.leastFrameRate), best.frameRate))
        return point
    }

    private static func row(
        for bitrate: Bitrate, current: OperatingPoint, best: VideoQuality, _ settings: QualitySettings
    ) -> VideoQuality {
        let rows = VideoQuality.presets.filter { $0 < best } + [best]
        let fitting = rows.last { row in
            let isFaster = settings.frameRate(atMost: row.frameRate) > current.frameRate
            let isHigher = isFaster || row > current.videoQuality ?? best
            let raised = row.leastBitrate * hysteresis
            // The highest rate must suffice for its own row.
            return bitrate >= (isHigher && raised <= best.bitrate ? raised : row.leastBitrate)
        }
        return fitting ?? min(.low1, best)
    }

    /// The next lower frame rate in the table.
    static func frameRate(below rate: FrameRate) -> FrameRate? {
        VideoQuality.presets.map(\.frameRate).filter { $0 < rate }.max()
    }
}
