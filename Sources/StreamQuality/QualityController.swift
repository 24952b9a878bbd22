import Media

/// Decides bit rates, frame rate and drops, so that receivers see live video rather than old video.
///
/// It goes down at once to the link's rate, and up by probing. docs/explain/quality.md has the state diagram and explains each
/// constant. This type is pure: `measured` is called ten times a second with counts from the buffer and the encoder.
public struct QualityController: Sendable {
    enum State: Sendable {
        /// The link carries the present rate. `lowSince` is when the buffer became low; `nil` while it is not low.
        case steady(lowSince: MediaTimestamp?)
        /// More was sent than delivered; the backlog is being sent at a lower rate.
        case draining(reducedAt: MediaTimestamp)
        case probing(Probe)
        /// Nothing is delivered.
        case stalled
    }

    /// An attempt at a higher rate.
    struct Probe: Sendable {
        let startedAt: MediaTimestamp
        /// Whether the rate is close to the link's known rate; then the probe is watched for longer.
        let isCautious: Bool
    }

    public internal(set) var settings: QualitySettings
    /// The encoders' present targets. Whoever opens the encoders applies them at the start.
    public internal(set) var operatingPoint: OperatingPoint
    var state: State
    var link: LinkEstimator
    var monitor: EncoderRateMonitor
    var schedule: ProbeSchedule
    var tierWatch: TierSwitchWatch
    var sizing: FrameSizing
    /// The buffer's level at the last measurement.
    private var bufferLevel = SendBufferLevel.low
    /// A still frame and silence are sent.
    private var isPaused = false
    /// Whether the buffer rose above its high threshold since the previous measurement.
    private(set) var isNewlyHigh = false
    /// Set while the encoder skips too many frames, until the bit rate has risen.
    var frameRateCap: (rate: FrameRate, until: Bitrate)?
    var discardedAt: MediaTimestamp?
    var easedAt: MediaTimestamp?
    /// The link's rate at the last overload.
    var capacityWhenReduced: Bitrate?
    /// The last raise and the rate before it, until it is known whether the raise was right.
    var raise: (time: MediaTimestamp, from: Bitrate)?

    public init(settings: QualitySettings, now: MediaTimestamp) {
        self.settings = settings
        link = LinkEstimator(gopDuration: settings.tuning.gopDuration)
        monitor = EncoderRateMonitor(settings.tuning)
        schedule = ProbeSchedule(settings.tuning)
        tierWatch = TierSwitchWatch(settings.tuning)
        sizing = FrameSizing(settings.tuning)
        state = .steady(lowSince: now)
        operatingPoint = Self.startingPoint(settings)
    }

    var tuning: ControlTuning { settings.tuning }

    /// The link's last estimated rate, all media together; `nil` if it was never full.
    public var linkEstimate: Bitrate? { link.capacity }

    /// The most bytes that may be in flight: as many as the link carries (or should carry, if that is more) in the
    /// route's delay plus a margin. A link that was never full is not limited, so that it can show its rate.
    public var flightLimit: Int {
        let rate = link.capacity.map { max($0, total(of: operatingPoint)) } ?? largestTotal
        let seconds = link.wayDelay.inSeconds + tuning.flightTime.inSeconds
        return max(tuning.smallestFlight, Int(Double(rate.bitsPerSecond) / 8 * seconds))
    }

    /// Whether nothing is delivered although data is waiting.
    public var isLinkStalled: Bool { if case .stalled = state { true } else { false } }

    private static func startingPoint(_ settings: QualitySettings) -> OperatingPoint {
        let point = OperatingPoint(
            videoQuality: settings.videoQuality, videoBitrate: settings.bitrateRange.start,
            frameRate: (settings.videoQuality ?? .standard).frameRate, audioQuality: settings.audioQuality)
        return sized(
            QualityLadder.fitted(point, to: settings, tier: settings.videoQuality?.tier ?? .lowAndMedium), settings)
    }

    /// The point with the requested frame size, if any.
    static func sized(_ point: OperatingPoint, _ settings: QualitySettings) -> OperatingPoint {
        var point = point
        point.frameSize = point.videoQuality == nil ? nil : settings.frameSizes?.sizes.first
        return point
    }

    // MARK: Events

    /// Called ten times a second while media is sent, each time after `SendBuffer.kernelQueueMeasured`.
    public mutating func measured(_ measurement: StreamMeasurement) -> [QualityAction] {
        link.measured(measurement)
        isNewlyHigh = measurement.bufferLevel == .high && bufferLevel != .high
        bufferLevel = measurement.bufferLevel
        guard settings.isAutomatic else { return [] }
        var actions = react(to: measurement)
        if actions.isEmpty { actions = switchTier(now: measurement.now) }
        // A still frame says nothing about the bits that later frames need.
        if isPaused { return actions }
        if actions.isEmpty { actions = resize(now: measurement.now) }
        if actions.isEmpty { actions = watchEncoder(measurement) }
        return actions
    }

    /// A still frame and silence are sent from now on, or no longer. The link is still measured, but the frame size and
    /// the encoder's target stay unchanged.
    public mutating func paused(_ isPaused: Bool, now: MediaTimestamp) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        monitor.startAnew(now: now)
        sizing.sceneChanged()
    }

    /// A connection took over after a loss. All knowledge of the link is discarded.
    /// - Parameter isRestart: the stream only restarted, on the known link.
    public mutating func connectionOpened(isRestart: Bool = false, now: MediaTimestamp) -> [QualityAction] {
        let known = link.capacity
        link.reset()
        if isRestart, let known { link.guessed(known) }
        if !isRestart {
            schedule.reset()
            sizing.linkChanged()
        }
        tierWatch.connectionOpened()
        // A link that was not full before the restart was rising: half of the wait is enough.
        let isRising = isRestart && known == nil
        state = .steady(lowSince: isRising ? now - tuning.shortestProbeWait / 2 : now)
        return []
    }

    /// Applies several changes as one transaction at one keyframe. Another profile tier or sample rate restarts the
    /// stream. Whether the stream has video and audio at all stays as it was at the start.
    public mutating func settingsChanged(to new: QualitySettings, now: MediaTimestamp) -> [QualityAction] {
        guard new != settings else { return [] }
        let old = operatingPoint
        let known = settings.isAutomatic ? limitKnown : nil
        let keepsBitrate = new.leavesBitrate(of: settings)
        let (video, audio, sizes) = (settings.videoQuality, settings.audioQuality, settings.frameSizes)
        settings = new
        settings.videoQuality = video == nil ? nil : new.videoQuality ?? video
        settings.audioQuality = audio == nil ? nil : new.audioQuality ?? audio
        frameRateCap = nil
        var point = keepsBitrate ? presentPoint : Self.startingPoint(settings)
        // If the link was just seen to carry less, new settings must not flood it.
        if !keepsBitrate, new.isAutomatic, let known, total(of: point) > known {
            point = self.point(forTotal: known, tier: point.videoQuality?.tier)
        }
        if settings.frameSizes != sizes { point.frameSize = largestSize(for: point) }
        if !keepsBitrate {
            schedule = ProbeSchedule(tuning)
            if case .stalled = state {} else { state = .steady(lowSince: now) }
        }
        let needsRestart =
            point.videoQuality?.tier != old.videoQuality?.tier
            || point.frameSize != old.frameSize && settings.resize != .seamless
            || point.audioQuality?.sampleRate != old.audioQuality?.sampleRate
        var actions = move(to: point, .settingsChanged, now: now)
        if needsRestart {
            actions = [.restartStream(point)] + actions.filter { if case .reportChange = $0 { true } else { false } }
        } else if !actions.isEmpty, point.videoQuality != nil {
            actions.insert(.requestKeyframe, at: actions.count - 1)
        }
        return actions
    }

    /// Whether `settingsChanged` with these settings would restart the stream.
    public func restarts(for new: QualitySettings) -> Bool {
        var trial = self
        // The time does not affect the result.
        let actions = trial.settingsChanged(to: new, now: .zero)
        return actions.contains { if case .restartStream = $0 { true } else { false } }
    }

    /// The present operating point under the new settings; only its bit rate is kept.
    private var presentPoint: OperatingPoint {
        var point = operatingPoint
        // The frame rate wanted earlier does not determine the row.
        if let quality = point.videoQuality { point.frameRate = quality.frameRate }
        point = QualityLadder.fitted(point, to: settings, tier: point.videoQuality?.tier ?? .lowAndMedium)
        // Keep the present size if the new settings contain it.
        guard let size = point.frameSize, settings.frameSizes?.sizes.contains(size) == true else {
            return Self.sized(point, settings)
        }
        return point
    }

    /// The link's rate, if it is the link that limits the present rate.
    private var limitKnown: Bitrate? {
        switch state {
        case .stalled: total(of: operatingPoint)
        case .steady, .draining, .probing: link.capacity.map { $0 * tuning.share }
        }
    }

    // MARK: The operating point

    /// The point's rate on the wire, all media together.
    func total(of point: OperatingPoint) -> Bitrate {
        let media = point.videoQuality == nil ? 0 : point.videoBitrate.bitsPerSecond
        return Bitrate(bitsPerSecond: media + (point.audioQuality?.bitrate.bitsPerSecond ?? 0))
            * (1 / tuning.payloadShare)
    }

    /// The best point with at most this total, or the lowest point.
    /// - Parameter tier: `nil` for the present one.
    func point(forTotal total: Bitrate, tier: VideoQuality.ProfileTier? = nil) -> OperatingPoint {
        let payload = total * tuning.payloadShare
        var point = operatingPoint
        guard let best = settings.audioQuality else {
            point.videoBitrate = payload
            return fitted(point, tier)
        }
        let beside = Bitrate(bitsPerSecond: payload.bitsPerSecond - best.bitrate.bitsPerSecond)
        let isLow = point.audioQuality != best
        let needed: Bitrate =
            settings.videoQuality == nil
            ? .zero : isLow ? tuning.videoForFullAudio : tuning.videoBeforeLowAudio
        // A small frame never needs more than its own limit.
        let video = min(needed, settings.bitrateRange.maximum)
        let hasRoom = payload.bitsPerSecond >= video.bitsPerSecond + best.bitrate.bitsPerSecond
        let audio = hasRoom || !settings.audioFollowsVideo ? best : best.lowest
        point.audioQuality = audio
        point.videoBitrate =
            audio == best ? beside : Bitrate(bitsPerSecond: payload.bitsPerSecond - audio.bitrate.bitsPerSecond)
        return fitted(point, tier)
    }

    private func fitted(_ point: OperatingPoint, _ tier: VideoQuality.ProfileTier?) -> OperatingPoint {
        let tier = tier ?? operatingPoint.videoQuality?.tier ?? .lowAndMedium
        var point = QualityLadder.fitted(point, to: settings, tier: tier)
        if let frameRateCap, point.videoBitrate < frameRateCap.until {
            point.frameRate = min(point.frameRate, frameRateCap.rate)
        }
        return point
    }

    /// Makes `point` the operating point and returns the actions that apply it.
    mutating func move(to point: OperatingPoint, _ reason: QualityChangeReason, now: MediaTimestamp) -> [QualityAction]
    {
        let old = operatingPoint
        var point = point
        if settings.resize == .seamless, reason != .settingsChanged, let ladder = settings.frameSizes {
            point.frameSize = sizing.shrunk(point, in: ladder, start: settings.bitrateRange.start)
        }
        guard point != old else { return [] }
        operatingPoint = point
        sizing.changed(from: old.frameSize, to: point.frameSize, now: now)
        if let cap = frameRateCap, point.videoBitrate >= cap.until { frameRateCap = nil }
        var actions: [QualityAction] = []
        if point.frameSize != old.frameSize { actions.append(.resizeVideo(point)) }
        if point.videoBitrate != old.videoBitrate || point.frameRate != old.frameRate
            || point.frameSize != old.frameSize
        {
            monitor.encoderChanged(now: now, frameRateFell: point.frameRate < old.frameRate)
            actions.append(videoCommand)
        }
        if let audio = point.audioQuality, audio != old.audioQuality { actions.append(.setAudio(audio)) }
        actions.append(.reportChange(QualityChange(from: old, to: point, reason: reason, linkEstimate: link.capacity)))
        return actions
    }

    /// The encoder's settings for the operating point.
    var videoCommand: QualityAction {
        .setVideo(
            bitrate: operatingPoint.videoBitrate * monitor.correction, frameRate: operatingPoint.frameRate,
            stretchesKeyframes: stretchesKeyframes)
    }

    /// Whether to space keyframes out: at a low rate that no person chose, and while a backlog is being sent.
    public var stretchesKeyframes: Bool {
        guard settings.isAutomatic else { return false }
        if case .draining = state { return true }
        return operatingPoint.videoBitrate < min(tuning.rareKeyframesBelow, settings.bitrateRange.start)
    }
}

extension Bitrate {
    static let zero = Bitrate(bitsPerSecond: 0)

    static func * (left: Bitrate, factor: Double) -> Bitrate {
        Bitrate(bitsPerSecond: Int(Double(left.bitsPerSecond) * factor + 0.5))
    }
}
