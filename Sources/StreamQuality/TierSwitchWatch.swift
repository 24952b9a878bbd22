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
    ///   - isLimited: the link's limit is known; what comes near to it may be too much after all. On a link that was never
    ///     full, as after a blackout, the higher tier waits for nothing.
    ///   - canSwitch: whether the moment is right; the need is watched in any case.
    /// - Returns: whether to switch now.
    mutating func isDue(
        tier: VideoQuality.ProfileTier, wanted: VideoQuality.ProfileTier, isLimited: Bool, canSwitch: Bool = true,
        now: MediaTimestamp
    ) -> Bool {
        guard wanted != tier else {
            neededSince = nil
            return false
        }
        let since = neededSince ?? now
        neededSince = since
        let rise = isLimited ? waitBeforeRise : .zero
        return canSwitch && now - since >= (wanted == .high ? rise : tuning.waitBeforeFall)
    }

    mutating func switched(to tier: VideoQuality.ProfileTier, now: MediaTimestamp) {
        neededSince = nil
        if tier == .high {
            roseAt = now
        } else if let roseAt {
            let held = now - roseAt >= tuning.switchProvingTime
            waitBeforeRise = held ? tuning.waitBeforeRise : min(waitBeforeRise * 2, tuning.longestWaitBeforeRise)
        }
    }

    /// A new connection: what was needed on the old one says nothing.
    mutating func connectionOpened() { neededSince = nil }
}

extension QualityController {
    /// Switches to the other tier when the settings allow it and the link has long asked for it.
    mutating func switchTier(now: MediaTimestamp) -> [QualityAction] {
        guard let tier = operatingPoint.videoQuality?.tier, let wanted = wantedTier else { return [] }
        let isSteady: Bool
        switch state {
        // What a probe tries is not yet what the link carries.
        case .probing: return []
        case .steady: isSteady = true
        case .draining, .stalled: isSteady = false
        }
        let isDue = tierWatch.isDue(
            tier: tier, wanted: wanted, isLimited: link.capacity != nil, canSwitch: isSteady, now: now)
        guard isDue else { return [] }
        var point = inTier(wanted, operatingPoint, now: now)
        // What needs a restart anyway comes with this one.
        if settings.mayResize { point.frameSize = largestSize(for: point) }
        return restart(at: point, .tierSwitched, now: now)
    }

    /// The tier in which the present bit rate belongs; `nil` where the stream may not leave its own.
    private var wantedTier: VideoQuality.ProfileTier? {
        guard settings.tierSwitch == .restartStream, settings.videoQuality?.tier == .high,
            let tier = operatingPoint.videoQuality?.tier
        else { return nil }
        let belongsHigh = operatingPoint.videoBitrate >= VideoQuality.medium3.bitrate
        // A link that was never full has not asked for less; the rate is only on its way up.
        let isKept = tier == .high && link.capacity == nil
        return belongsHigh || isKept ? .high : .lowAndMedium
    }

    /// A restart for the size's sake takes the switch along that would be the next.
    mutating func takingTierAlong(_ point: OperatingPoint, now: MediaTimestamp) -> OperatingPoint {
        guard let wantedTier, wantedTier != point.videoQuality?.tier else { return point }
        return inTier(wantedTier, point, now: now)
    }

    private mutating func inTier(
        _ tier: VideoQuality.ProfileTier, _ point: OperatingPoint, now: MediaTimestamp
    ) -> OperatingPoint {
        tierWatch.switched(to: tier, now: now)
        var point = point
        if tier == .high { point.videoBitrate = max(point.videoBitrate, VideoQuality.high1.bitrate) }
        return QualityLadder.fitted(point, to: settings, tier: tier)
    }

    mutating func restart(
        at point: OperatingPoint, _ reason: QualityChangeReason, now: MediaTimestamp
    ) -> [QualityAction] {
        let reports = move(to: point, reason, now: now).filter { if case .reportChange = $0 { true } else { false } }
        return [.restartStream(operatingPoint)] + reports
    }
}
