import Media

/// Holds a sound card's clock against the system's and says by how much its samples are to be stretched.
///
/// The card's samples are resampled to the stream's rate; a sample's place in what comes out is its time. The
/// difference between that time and the one at which the card says it took the sample is averaged over a second and
/// fed to a proportional-integral controller, which moves the resampling ratio by some parts per million. The
/// integral is the drift. Damped critically at 0.05 rad/s: a clock 500 ppm off is 4 ms away at most while it is
/// being learnt, and jitter of some milliseconds moves the pitch by less than 0.01 %.
struct ClockDriftCorrector {
    enum Action: Hashable, Sendable {
        /// The card's rate is so many parts per million above its nominal one: resample by that.
        case setCorrection(ppm: Double)
        /// Audio was lost: put so much silence before the block.
        case insertSilence(Duration)
        /// The card gives more than the clock allows: leave out so much.
        case drop(Duration)
    }

    /// A card cannot be further off and work.
    static let largestCorrection = 1000.0
    /// A block so much later than expected follows a loss.
    static let usualGapThreshold = Duration.milliseconds(30)
    let gapThreshold: Duration
    static let interval = Duration.seconds(1)
    /// Blocks before the drift is called known.
    private static let settlingTime = Duration.seconds(30)

    private static let proportional = 0.1
    private static let integral = 0.0025

    /// The measured drift in parts per million; `nil` before it has settled.
    var driftPPM: Double? { settled ? drift : nil }
    private var drift = 0.0
    private var settled = false
    private var start: MediaTimestamp?
    private var intervalStart: MediaTimestamp?
    private var sum = 0.0
    private var count = 0
    /// The block that comes next follows a known loss of unknown length.
    private var isResuming = false

    /// - Parameter gapThreshold: of sources that give their audio less evenly than a card.
    init(gapThreshold: Duration = Self.usualGapThreshold) { self.gapThreshold = gapThreshold }

    /// Audio was lost: the next block is put where its time says.
    mutating func audioLost() {
        isResuming = true
        restartInterval(nil)
    }

    /// A block has been read.
    /// - Parameters:
    ///   - captureTime: when its first sample was taken, by the system's clock.
    ///   - expected: the time that its first sample would have in the stream.
    mutating func blockRead(captureTime: MediaTimestamp, expected: MediaTimestamp) -> Action? {
        let start = start ?? captureTime
        self.start = start
        let error = captureTime - expected
        if error > gapThreshold || isResuming && error > .zero {
            isResuming = false
            restartInterval(captureTime)
            return .insertSilence(error)
        }
        if error < .zero - gapThreshold || isResuming && error < .zero {
            isResuming = false
            restartInterval(captureTime)
            return .drop(.zero - error)
        }
        isResuming = false
        guard let intervalStart = intervalStart else {
            restartInterval(captureTime)
            return nil
        }
        sum += error.inSeconds
        count += 1
        guard captureTime - intervalStart >= Self.interval else { return nil }
        let average = sum / Double(count)
        let seconds = (captureTime - intervalStart).inSeconds
        restartInterval(captureTime)
        let limit = Self.largestCorrection
        drift = min(max(drift - 1e6 * Self.integral * average * seconds, -limit), limit)
        if captureTime - start >= Self.settlingTime { settled = true }
        return .setCorrection(ppm: min(max(drift - 1e6 * Self.proportional * average, -limit), limit))
    }

    private mutating func restartInterval(_ time: MediaTimestamp?) {
        intervalStart = time
        sum = 0
        count = 0
    }
}
