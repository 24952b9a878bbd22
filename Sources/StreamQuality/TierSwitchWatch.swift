import Media

/// Decides when a stream switches its profile tier, if it may.
///
/// A switch costs a restart, so the need must have lasted. A return that did not last doubles the wait for the next
/// one.
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
    ///   - tier: the present tier.
    ///   - wanted: the tier that the bit rate belongs to.
    ///   - isLimited: the link's limit is known, and a rate close to it may turn out too high. On a link that was never
    ///     full, as after a blackout, the higher tier is used without waiting.
    ///   - canSwitch: whether a switch is possible now; the need is tracked in any case.
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

    /// A new connection: the need on the old one no longer counts.
    mutating func connectionOpened() { neededSince = nil }
}

extension QualityController {
    /// Switches to the other tier if the settings allow it and the link has required it for long enough.
    mutating func switchTier(now: MediaTimestamp) -> [QualityAction] {
        guard let tier = operatingPoint.videoQuality?.tier, let wanted = wantedTier else { return [] }
        let isSteady: Bool
        switch state {
        // The rate of a probe is not yet proved.
        case .probing: return []
        case .steady: isSteady = true
        case .draining, .stalled: isSteady = false
        }
        let isDue = tierWatch.isDue(
            tier: tier, wanted: wanted, isLimited: link.capacity != nil, canSwitch: isSteady, now: now)
        guard isDue else { return [] }
        var point = inTier(wanted, operatingPoint, now: now)
        // Other changes that need a restart share this one.
        if settings.mayResize { point.frameSize = largestSize(for: point) }
        return restart(at: point, .tierSwitched, now: now)
    }

    /// The tier that the present bit rate belongs to; `nil` if the stream may not switch.
    private var wantedTier: VideoQuality.ProfileTier? {
        guard settings.tierSwitch == .restartStream, settings.videoQuality?.tier == .high,
            let tier = operatingPoint.videoQuality?.tier
        else { return nil }
        let belongsHigh = operatingPoint.videoBitrate >= VideoQuality.medium3.bitrate
        // A link that was never full has not required less; the rate is only still rising.
        let isKept = tier == .high && link.capacity == nil
        return belongsHigh || isKept ? .high : .lowAndMedium
    }

    /// If a change of size needs a restart, the next tier switch shares it.
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
