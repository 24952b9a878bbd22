import Media

/// Compares a sound card's clock with the system's and computes how much to stretch its samples.
///
/// The card's samples are resampled to the stream's rate, so a sample's position in the output gives its expected time. The
/// difference between that and the time the card reports is averaged over one second. A proportional-integral controller turns
/// it into a change of the resampling ratio by some parts per million; its integral is the drift. The controller is critically
/// damped at 0.05 rad/s. While it settles, a clock that is 500 ppm off deviates by 4 ms at most, and jitter of a few
/// milliseconds changes the pitch by less than 0.01 %.
struct ClockDriftCorrector {
    enum Action: Hashable, Sendable {
        /// The card's rate is this many parts per million above nominal; resample accordingly.
        case setCorrection(ppm: Double)
        /// Audio was lost: insert this much silence before the block.
        case insertSilence(Duration)
        /// The card delivers more than the clock allows: drop this much.
        case drop(Duration)
    }

    /// No working card is further off.
    static let largestCorrection = 1000.0
    /// A block that comes this much later than expected follows a loss.
    static let usualGapThreshold = Duration.milliseconds(30)
    let gapThreshold: Duration
    static let interval = Duration.seconds(1)
    /// The drift counts as known after this time.
    private static let settlingTime = Duration.seconds(30)

    private static let proportional = 0.1
    private static let integral = 0.0025

    /// The measured drift in parts per million; `nil` until it has settled.
    var driftPPM: Double? { settled ? drift : nil }
    private var drift = 0.0
    private var settled = false
    private var start: MediaTimestamp?
    private var intervalStart: MediaTimestamp?
    private var sum = 0.0
    private var count = 0
    /// The next block follows a known loss of unknown length.
    private var isResuming = false

    /// - Parameter gapThreshold: larger for sources that deliver audio less evenly than a card.
    init(gapThreshold: Duration = Self.usualGapThreshold) { self.gapThreshold = gapThreshold }

    /// Reports lost audio: the next block is placed by its own timestamp.
    mutating func audioLost() {
        isResuming = true
        restartInterval(nil)
    }

    /// Reports a block.
    /// - Parameters:
    ///   - captureTime: when its first sample was captured, on the system's clock.
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
