import Media

/// Decides when a stream that may leave its profile tier does so.
///
/// A switch costs a restart, so the need must have lasted; and a return that did not hold makes the next one wait
/// twice as long.
struct TierSwitchWatch: Sendable {
    private var neededSince: MediaTimestamp?
    private var roseAt: MediaTimestamp?
    private var waitBeforeRise: Duration
    private let tuning: ControlTuning

    init(_ tuning: ControlTuning = ControlTuning()) {
        self.tuning = tuning
        waitBeforeRise = tuning.waitBeforeRise
    }

    /// - Parameters:
    ///   - tier: where the stream is.
    ///   - wanted: where its bit rate belongs.
    ///   - canSwitch: whether the moment is right; the need is watched in any case.
    /// - Returns: whether to switch now.
    mutating func isDue(
        tier: VideoQuality.ProfileTier, wanted: VideoQuality.ProfileTier, canSwitch: Bool = true, now: MediaTimestamp
    ) -> Bool {
        guard wanted != tier else {
            neededSince = nil
            return false
        }
        let since = neededSince ?? now
        neededSince = since
        guard canSwitch, now - since >= (wanted == .high ? waitBeforeRise : tuning.waitBeforeFall) else { return false }
        neededSince = nil
        if wanted == .high {
            roseAt = now
        } else if let roseAt {
            let held = now - roseAt >= tuning.switchProvingTime
            waitBeforeRise = held ? tuning.waitBeforeRise : min(waitBeforeRise * 2, tuning.longestWaitBeforeRise)
        }
        return true
    }

    /// A new connection: what was needed on the old one says nothing.
    mutating func connectionOpened() { neededSince = nil }
}

extension QualityController {
    /// Switches to the other tier when the settings allow it and the link has long asked for it.
    mutating func switchTier(now: MediaTimestamp) -> [QualityAction] {
        guard settings.tierSwitch == .restartStream, settings.videoQuality?.tier == .high,
            let tier = operatingPoint.videoQuality?.tier
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
        let wanted: VideoQuality.ProfileTier =
            switch tier {
            case .high:
                isLimited && operatingPoint.videoBitrate < VideoQuality.medium3.bitrate ? .lowAndMedium : .high
            case .lowAndMedium: operatingPoint.videoBitrate >= VideoQuality.medium3.bitrate ? .high : .lowAndMedium
            }
        guard tierWatch.isDue(tier: tier, wanted: wanted, canSwitch: isSteady, now: now) else { return [] }
        var point = operatingPoint
        if wanted == .high { point.videoBitrate = VideoQuality.high1.bitrate }
        point = QualityLadder.fitted(point, to: settings, tier: wanted)
        // What needs a restart anyway comes with this one.
        if settings.mayResize, let ladder = settings.frameSizes {
            point.frameSize = sizing.shrunk(
                Self.sized(point, settings), in: ladder, start: settings.bitrateRange.start)
        }
        let report = move(to: point, .tierSwitched, now: now).filter {
            if case .reportChange = $0 { true } else { false }
        }
        return [.restartStream(operatingPoint)] + report
    }
}
