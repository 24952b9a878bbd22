import Media

/// Decides when a stream that may leave its group of qualities does so.
///
/// A crossing costs a restart, so the need must have lasted; and a return that did not hold makes the next one wait
/// twice as long.
struct GroupCrossingWatch: Sendable {
    private var neededSince: MediaTimestamp?
    private var roseAt: MediaTimestamp?
    private var waitBeforeRise: Duration
    private let tuning: ControlTuning

    init(_ tuning: ControlTuning = ControlTuning()) {
        self.tuning = tuning
        waitBeforeRise = tuning.waitBeforeRise
    }

    /// - Parameters:
    ///   - group: where the stream is.
    ///   - wanted: where its bit rate belongs.
    ///   - canCross: whether the moment is right; the need is watched in any case.
    /// - Returns: whether to cross now.
    mutating func isDue(
        group: VideoQuality.Group, wanted: VideoQuality.Group, canCross: Bool = true, now: MediaTimestamp
    ) -> Bool {
        guard wanted != group else {
            neededSince = nil
            return false
        }
        let since = neededSince ?? now
        neededSince = since
        guard canCross, now - since >= (wanted == .high ? waitBeforeRise : tuning.waitBeforeFall) else { return false }
        neededSince = nil
        if wanted == .high {
            roseAt = now
        } else if let roseAt {
            let held = now - roseAt >= tuning.crossingProvingTime
            waitBeforeRise = held ? tuning.waitBeforeRise : min(waitBeforeRise * 2, tuning.longestWaitBeforeRise)
        }
        return true
    }

    /// A new connection: what was needed on the old one says nothing.
    mutating func connectionOpened() { neededSince = nil }
}

extension QualityController {
    /// Crosses the border between the groups when the settings allow it and the link has long asked for it.
    mutating func crossGroup(now: MediaTimestamp) -> [QualityAction] {
        guard settings.groupCrossing == .restartStream, settings.videoQuality?.group == .high,
            let group = operatingPoint.videoQuality?.group
        else { return [] }
        let isSteady: Bool
        switch state {
        // What a probe tries is not yet what the link carries.
        case .probing: return []
        case .steady: isSteady = true
        case .draining, .stalled: isSteady = false
        }
        // A link that was never full has not asked for less; the rate is only on its way up.
        let isLimited = link.capacity != nil
        let wanted: VideoQuality.Group =
            switch group {
            case .high:
                isLimited && operatingPoint.videoBitrate < VideoQuality.medium3.bitrate ? .lowAndMedium : .high
            case .lowAndMedium: operatingPoint.videoBitrate >= VideoQuality.medium3.bitrate ? .high : .lowAndMedium
            }
        guard crossing.isDue(group: group, wanted: wanted, canCross: isSteady, now: now) else { return [] }
        var point = operatingPoint
        if wanted == .high { point.videoBitrate = VideoQuality.high1.bitrate }
        point = QualityLadder.fitted(point, to: settings, group: wanted)
        let report = move(to: point, .groupCrossed, now: now).filter {
            if case .reportChange = $0 { true } else { false }
        }
        return [.restartStream(point)] + report
    }
}
