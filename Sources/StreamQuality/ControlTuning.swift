import Media

/// The controller's constants. The defaults were found by simulation and on real links; docs/explain/quality.md explains each.
public struct ControlTuning: Hashable, Sendable {
    // MARK: Using the link

    /// The share of a link's known rate that is used.
    public var share = 0.94
    /// The share of media in the data sent; the rest is chunk and media headers.
    public var payloadShare = 0.98
    /// How long bytes in flight may take to arrive, in addition to the route's delay.
    public var flightTime = Duration.milliseconds(400)
    /// Bytes that may always be in flight.
    public var smallestFlight = 16_384
    /// Below this, video needs the bits more than audio.
    public var videoBeforeLowAudio = Bitrate(kilobitsPerSecond: 320)
    /// Above this, audio returns to its full bit rate.
    public var videoForFullAudio = Bitrate(kilobitsPerSecond: 420)
    /// A GOP and a little more: for this long, a delay may come from a single keyframe.
    public var gopDuration = Duration.milliseconds(2_200)

    // MARK: Down

    /// A shorter delay never counts as congestion, however low the buffer's low threshold is.
    public var leastCongestion = Duration.milliseconds(200)
    /// New frames may be late by this share of the buffer's `maxDuration` before waiting frames are discarded for them.
    public var discardShare = 0.6
    /// Relative to the congested delay: a longer delay is always too much.
    public var severeFactor = 1.7
    /// A congested delay that never fell below this share for `slowSignTime` is not caused by a keyframe.
    public var slowSignShare = 0.4
    public var slowSignTime = Duration.seconds(1)
    /// Half the congested delay is too much if less than this share of the appended data was delivered in
    /// `fastSignTime`.
    public var fastSignShare = 0.6
    public var fastSignTime = Duration.milliseconds(500)
    /// Relative to the congested delay: if the delay never falls below this for `gopDuration`, the link is just full.
    public var fullShare = 0.25
    /// Smaller relative changes are not worth the encoder's fluctuation.
    public var leastChange = 0.05
    public var leastEasing = 0.03
    /// A discard must save this share of the delay that triggers it.
    public var leastSaving = 0.25
    /// The backlog must be sent within this time.
    public var drainTime = Duration.seconds(3)
    /// If the lowest rate cannot send the backlog within this time, it is discarded at half the usual lateness.
    public var longestDrainTime = Duration.seconds(8)
    /// After this long without any delivery the link counts as stalled rather than slow.
    public var stallTime = Duration.seconds(1)
    /// Time for a reduction to take effect before the next one.
    public var reductionInterval = Duration.milliseconds(700)
    /// A slowly degrading link is followed in steps, rather than at each measurement.
    public var easingInterval = Duration.seconds(2)
    public var discardInterval = Duration.seconds(2)
    /// If a link delivers its backlog at this multiple of its former rate, it counts as another link and the waits are
    /// reset.
    public var otherLinkFactor = 1.5

    // MARK: Up

    /// The buffer must always have been low for this long before a probe.
    public var shortestProbeWait = Duration.seconds(2)
    /// The wait on a link whose limit is known; doubled by each failure, halved by each success.
    public var probeWait = Duration.seconds(4)
    public var longestProbeWait = Duration.seconds(24)
    /// Bursts of this multiple of the present rate suggest that the link has improved.
    public var hintFactor = 1.5
    /// Each misleading hint multiplies the factor by 1.5, up to this.
    public var largestHintFactor = 8.0
    /// Growth while the link's limit is unknown.
    public var fastGrowth = 1.5
    /// The same behind a buffer that acknowledges bytes ahead of the link.
    public var growthAhead = 1.25
    /// Stalls and draining may take this many times longer there.
    public var patienceAhead = 2.0
    /// Growth near the limit.
    public var cautiousGrowth = 1.12
    public var fastProbeTime = Duration.milliseconds(1_200)
    /// A probe is abandoned early if the queue never ran empty for this long and less than `refutingShare` was
    /// delivered.
    public var refutingTime = Duration.seconds(1)
    public var refutingShare = 0.85
    /// Data acknowledged in a rush within this time after congestion still belongs to it.
    public var rushTime = Duration.milliseconds(200)
    /// Relative to the congested delay: if even the longest delay was shorter, the limit is not near.
    public var farShare = 1.0 / 6
    /// A raise that lasted this long was right.
    public var provingTime = Duration.seconds(10)
    /// If after a raise the link carries less than this share of the rate before it, the raise is not to blame.
    public var blameShare = 0.65
    /// An encoder whose output is below this share of its target proves nothing about the link.
    public var verifyingShare = 0.55

    // MARK: The encoder

    /// Its output is ignored for this long after a change.
    public var settlingTime = Duration.milliseconds(500)
    /// A GOP: its keyframe alone takes a fifth of the bits.
    public var correctionWindow = Duration.seconds(2)
    /// Its output may differ from its target by this share.
    public var encoderTolerance = 0.08
    public var smallestCorrection = 0.6
    /// Low output may only mean that the scene is simple.
    public var largestCorrection = 1.1
    /// For this long after the frame rate was lowered, low output is the encoder's fault.
    public var undershootTime = Duration.seconds(8)
    public var undershootCorrection = 1.6
    /// If it skips more than this share of its frames, its frame rate goes one step down ...
    public var toleratedSkips = 0.5
    /// ... until the bit rate has risen by this factor.
    public var skipRelief = 1.2

    /// Below this, a keyframe every two seconds takes a third of the bits.
    public var rareKeyframesBelow = Bitrate(kilobitsPerSecond: 400)

    // MARK: The size of the frame

    /// With fewer bits per pixel, the frame becomes smaller ...
    public var leastBitsPerPixel = 0.04
    /// ... to the largest size that gets this many ...
    public var wantedBitsPerPixel = 0.06
    /// ... and becomes larger again when this factor more is available.
    public var growthMargin = 1.25
    /// If the encoder skips more than this share of its frames, it gets the next smaller size ...
    public var toleratedSkipsOfSize = 0.2
    /// An encoder that skips a larger share of its frames needs more bits than it outputs.
    public var skipsOfStillScene = 0.05
    /// A larger size must have been affordable for this long; doubled after each one that did not last
    /// `growthProvingTime`.
    public var waitBeforeGrowth = Duration.seconds(6)
    /// The same on a link whose limit is unknown, as after a blackout.
    public var waitBeforeFreeGrowth = Duration.milliseconds(1_500)
    public var longestWaitBeforeGrowth = Duration.seconds(120)
    public var growthProvingTime = Duration.seconds(60)
    /// If changing the size costs a restart, the need must have lasted this long.
    public var waitBeforeShrinking = Duration.seconds(3)

    // MARK: Switching tiers

    public var waitBeforeFall = Duration.seconds(5)
    /// Doubled after each return that did not last `switchProvingTime`.
    public var waitBeforeRise = Duration.seconds(10)
    public var longestWaitBeforeRise = Duration.seconds(160)
    public var switchProvingTime = Duration.seconds(60)

    public init() {}
}

/// The delays that the controller acts on, derived from the buffer's limits.
struct DelayLimits: Sendable {
    /// Above this, more is sent than delivered; below half of it, the buffer is low.
    let congested: Duration
    /// New frames may be this late before waiting frames are discarded for them.
    let discard: Duration
    /// A longer delay is always too much.
    let severe: Duration

    init(_ limits: SendBufferLimits, _ tuning: ControlTuning) {
        congested = max(limits.duration(limits.lowThreshold), tuning.leastCongestion)
        discard = limits.duration(tuning.discardShare)
        severe = congested * tuning.severeFactor
    }

    var low: Duration { congested / 2 }
}
