import Media

/// The controller's constants. docs/quality.md gives the reason of each.
enum ControlConstants {
    /// The part of a link's rate that is used once the rate is known.
    static let share = 0.94
    /// The part of what is sent that is media; the rest is chunk and media headers.
    static let payloadShare = 0.98
    /// What piled up is to be sent within this time.
    static let drainTime = Duration.seconds(3)
    /// Nothing comes through for so long: the link is gone, not slow.
    static let stallTime = Duration.seconds(1)
    /// One reduction is given so long to show before the next.
    static let reductionInterval = Duration.milliseconds(700)
    /// A link that goes down slowly is followed in steps, not at each measurement.
    static let easingInterval = Duration.seconds(2)
    /// How long the bytes under way may take to arrive, beside the way itself, and how many may be under way in any case.
    static let flightTime = Duration.milliseconds(400)
    static let smallestFlight = 16_384
    static let discardInterval = Duration.seconds(2)
    /// Below this, video needs the bits more than audio does; above the second, audio gets them back.
    static let videoBeforeLowAudio = Bitrate(kilobitsPerSecond: 320)
    static let videoForFullAudio = Bitrate(kilobitsPerSecond: 420)
    /// Growth while the link's limit is not known, and near to it.
    static let fastGrowth = 1.5
    static let cautiousGrowth = 1.12
    /// A group of pictures and a little more: so long, a delay may be one key frame's.
    static let groupTime = Duration.milliseconds(2_200)
    /// A probe is given up early when the queue never ran empty for so long and less than this share came through.
    static let refutingTime = Duration.seconds(1)
    static let refutingShare = 0.85
    /// What is acknowledged at once after a congestion belongs to it for so long.
    static let rushTime = Duration.milliseconds(200)
    static let fastProbeTime = Duration.milliseconds(1_200)
    /// A raise that lasted so long was right.
    static let provingTime = Duration.seconds(10)
    /// An encoder that gives less than this of what it is told proves nothing about the link.
    static let verifyingShare = 0.55
}

/// The delays that the controller acts on, as they follow from the buffer's limits.
struct DelayLimits: Sendable {
    /// Above this, more is sent than comes through; below half of it, the buffer is low.
    let congested: Duration
    /// New pictures may be late by so much before what waits is given up for them.
    let discard: Duration

    init(_ limits: SendBufferLimits) {
        congested = max(limits.duration(limits.lowThreshold), .milliseconds(200))
        discard = limits.duration(0.6)
    }

    var low: Duration { congested / 2 }
    var severe: Duration { congested * 1.7 }
}
