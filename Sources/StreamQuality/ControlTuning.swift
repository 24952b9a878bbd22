import Media

/// The controller's constants, each with the default that was found by simulation and on real links.
/// docs/explain/quality.md gives the reason of each.
public struct ControlTuning: Hashable, Sendable {
    // MARK: Using the link

    /// The part of a link's rate that is used once the rate is known.
    public var share = 0.94
    /// The part of what is sent that is media; the rest is chunk and media headers.
    public var payloadShare = 0.98
    /// How long the bytes under way may take to arrive, beside the way itself.
    public var flightTime = Duration.milliseconds(400)
    /// Bytes that may be under way in any case.
    public var smallestFlight = 16_384
    /// Below this, video needs the bits more than audio does.
    public var videoBeforeLowAudio = Bitrate(kilobitsPerSecond: 320)
    /// Above this, audio gets them back.
    public var videoForFullAudio = Bitrate(kilobitsPerSecond: 420)
    /// A GOP and a little more: so long, a delay may be one keyframe's.
    public var gopDuration = Duration.milliseconds(2_200)

    // MARK: Down

    /// A delay counts as congestion never below this, however low the buffer's low threshold is.
    public var leastCongestion = Duration.milliseconds(200)
    /// New frames may be late by this part of the buffer's `maxDuration` before what waits is given up for them.
    public var discardShare = 0.6
    /// Of the congested delay: beyond this, whatever it is, it is too much.
    public var severeFactor = 1.7
    /// A delay above congestion that was never below this part of it for so long is no keyframe's.
    public var slowSignShare = 0.4
    public var slowSignTime = Duration.seconds(1)
    /// Half of the congested delay is too much when less than this part of what was appended came through in so long.
    public var fastSignShare = 0.6
    public var fastSignTime = Duration.milliseconds(500)
    /// Of the congested delay: never below this for `gopDuration`, the link is just full.
    public var fullShare = 0.25
    /// Changes of less than this part are not worth an encoder's swing.
    public var leastChange = 0.05
    public var leastEasing = 0.03
    /// A discard must save this part of the delay that asks for it.
    public var leastSaving = 0.25
    /// What piled up is to be sent within this time.
    public var drainTime = Duration.seconds(3)
    /// What the lowest rate does not send in this time is dropped at half the lateness.
    public var longestDrainTime = Duration.seconds(8)
    /// Nothing comes through for so long: the link is gone, not slow.
    public var stallTime = Duration.seconds(1)
    /// One reduction is given so long to show before the next.
    public var reductionInterval = Duration.milliseconds(700)
    /// A link that goes down slowly is followed in steps, not at each measurement.
    public var easingInterval = Duration.seconds(2)
    public var discardInterval = Duration.seconds(2)
    /// A link that, as the backlog is sent, carries so many times what it did is another link: waits start anew.
    public var otherLinkFactor = 1.5

    // MARK: Up

    /// The buffer must have been low for so long in any case before more is tried.
    public var shortestProbeWait = Duration.seconds(2)
    /// The wait on a link whose limit is known; doubled by each failure, halved by each success.
    public var probeWait = Duration.seconds(4)
    public var longestProbeWait = Duration.seconds(24)
    /// Bursts of so many times what is sent are a hint that the link has become better.
    public var hintFactor = 1.5
    /// Each hint that misled raises the factor by half, up to here.
    public var largestHintFactor = 8.0
    /// Growth while the link's limit is not known.
    public var fastGrowth = 1.5
    /// The same behind a buffer that takes bytes ahead of the link.
    public var growthAhead = 1.25
    /// So many times longer a stall and draining may take there.
    public var patienceAhead = 2.0
    /// Growth near to the limit.
    public var cautiousGrowth = 1.12
    public var fastProbeTime = Duration.milliseconds(1_200)
    /// A probe is given up early when the queue never ran empty for so long and less than `refutingShare` came through.
    public var refutingTime = Duration.seconds(1)
    public var refutingShare = 0.85
    /// What is acknowledged at once after a congestion belongs to it for so long.
    public var rushTime = Duration.milliseconds(200)
    /// Of the congested delay: where even the longest was below this, the limit is not near.
    public var farShare = 1.0 / 6
    /// A raise that lasted so long was right.
    public var provingTime = Duration.seconds(10)
    /// A raise that is followed by a link of less than this part of what was sent before it is not what was wrong.
    public var blameShare = 0.65
    /// An encoder that gives less than this of what it is asked for proves nothing about the link.
    public var verifyingShare = 0.55

    // MARK: The encoder

    /// What it gives is not looked at for so long after a change.
    public var settlingTime = Duration.milliseconds(500)
    /// A GOP: its keyframe alone is a fifth of the bits.
    public var correctionWindow = Duration.seconds(2)
    /// What it gives may differ by this part from what it is asked for.
    public var encoderTolerance = 0.08
    public var smallestCorrection = 0.6
    /// Too little may only mean that the scene is simple.
    public var largestCorrection = 1.1
    /// For so long after the frame rate fell, too little is the encoder's fault.
    public var undershootTime = Duration.seconds(8)
    public var undershootCorrection = 1.6
    /// With more than this part of its frames left out, it gets the next lower frame rate ...
    public var toleratedSkips = 0.5
    /// ... until the bit rate is so much higher.
    public var skipRelief = 1.2

    /// Below this a keyframe each two seconds takes a third of the bits.
    public var rareKeyframesBelow = Bitrate(kilobitsPerSecond: 400)

    // MARK: The size of the frame

    /// With fewer bits for a pixel of each frame, the frame becomes smaller ...
    public var leastBitsPerPixel = 0.04
    /// ... as large as this allows ...
    public var wantedBitsPerPixel = 0.06
    /// ... and larger again with so much more.
    public var growthMargin = 1.25
    /// With more than this part of its frames left out, the encoder gets the next smaller size ...
    public var toleratedSkipsOfSize = 0.2
    /// An encoder that leaves out a larger share of its frames needs more bits than it gives.
    public var skipsOfStillScene = 0.05
    /// A larger size must have been affordable for so long; doubled by each that did not last `growthProvingTime`.
    public var waitBeforeGrowth = Duration.seconds(6)
    /// The same on a link whose limit is not known, as after a blackout.
    public var waitBeforeFreeGrowth = Duration.milliseconds(1_500)
    public var longestWaitBeforeGrowth = Duration.seconds(120)
    public var growthProvingTime = Duration.seconds(60)
    /// Where a change of size costs a restart, it must have been needed for so long.
    public var waitBeforeShrinking = Duration.seconds(3)

    // MARK: Between the tiers

    public var waitBeforeFall = Duration.seconds(5)
    /// Doubled after each return that did not hold for `switchProvingTime`.
    public var waitBeforeRise = Duration.seconds(10)
    public var longestWaitBeforeRise = Duration.seconds(160)
    public var switchProvingTime = Duration.seconds(60)

    public init() {}
}

/// The delays that the controller acts on, as they follow from the buffer's limits.
struct DelayLimits: Sendable {
    /// Above this, more is sent than comes through; below half of it, the buffer is low.
    let congested: Duration
    /// New frames may be late by so much before what waits is given up for them.
    let discard: Duration
    /// Beyond this, whatever it is, it is too much.
    let severe: Duration

    init(_ limits: SendBufferLimits, _ tuning: ControlTuning) {
        congested = max(limits.duration(limits.lowThreshold), tuning.leastCongestion)
        discard = limits.duration(tuning.discardShare)
        severe = congested * tuning.severeFactor
    }

    var low: Duration { congested / 2 }
}
