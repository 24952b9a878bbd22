import Media

/// Derives sample times by counting, and compares the count with the clock, because capture times jitter, sound cards run at
/// their own rate, and blocks get lost.
///
/// - Small differences move the timeline by at most a thousandth of the block's length. This follows any real sample clock and
///   hides jitter.
/// - A block that comes later than `gapThreshold` follows a gap. Silence of the gap's length replaces it, so that audio stays
///   in sync with video.
/// - A gap longer than `longestSilence` is a break (the machine slept), and the time jumps.
/// - Audio that runs more than `largestLead` ahead of the clock (from a writer that does not pace itself) is cut down to the
///   clock.
struct AudioTimeline {
    enum Action: Equatable {
        /// Insert this many frames of silence before the block.
        case insertSilence(frameCount: Int)
        /// Drop this many frames at the block's start.
        case drop(frameCount: Int)
    }

    static let longestSilence = Duration.seconds(5)
    static let largestLead = Duration.seconds(1)

    private let sampleRate: Int
    private let gapThreshold: Duration
    /// The time of frame 0, adjusted while the stream runs.
    private var origin: MediaTimestamp?
    /// Frames counted so far, including silence.
    private var frameCount: Int64 = 0

    init(sampleRate: Int, gapThreshold: Duration) {
        self.sampleRate = sampleRate
        self.gapThreshold = gapThreshold
    }

    /// The time of a frame. Negative numbers are the encoder's delay before the first one.
    func time(ofFrame frame: Int64) -> MediaTimestamp? { origin.map { $0 + duration(ofFrames: frame) } }

    private func duration(ofFrames count: Int64) -> Duration {
        let rate = Int64(sampleRate)
        return .nanoseconds(count / rate * 1_000_000_000 + count % rate * 1_000_000_000 / rate)
    }

    /// Frames in a duration of at most a few seconds.
    private func frames(in duration: Duration) -> Int {
        Int(duration.wholeNanoseconds / 1000 * Int64(sampleRate) / 1_000_000)
    }

    /// Reports a block of `count` frames whose first was captured at `time`.
    mutating func blockArrived(at time: MediaTimestamp, frameCount count: Int) -> Action? {
        guard let expected = self.time(ofFrame: frameCount) else {
            origin = time
            frameCount = Int64(count)
            return nil
        }
        let lateness = time - expected
        if lateness > Self.longestSilence {
            origin = time - duration(ofFrames: frameCount)
        } else if lateness > gapThreshold {
            let silence = frames(in: lateness)
            frameCount += Int64(silence + count)
            return .insertSilence(frameCount: silence)
        } else if lateness < .zero - Self.largestLead {
            let dropped = min(count, lateness < .zero - Self.longestSilence ? count : frames(in: .zero - lateness))
            frameCount += Int64(count - dropped)
            return .drop(frameCount: dropped)
        } else {
            let limit = duration(ofFrames: Int64(count)) / 1000
            origin = origin.map { $0 + min(max(lateness, .zero - limit), limit) }
        }
        frameCount += Int64(count)
        return nil
    }
}
