/// The decode times and durations of a live track's samples, each known before the next sample is there.
///
/// Media Source Extensions take a decode time that is more than twice the last duration after the one before as a discontinuity:
/// all tracks of the buffer then wait for a keyframe. A late sample must not cause that. So its decode time is brought forward,
/// and its composition offset makes up for it: it is shown at its own time.
struct MP4LiveTimes: Hashable, Sendable {
    struct Moment: Hashable, Sendable {
        let decodeTime: Int64
        let compositionOffset: Int32
        let duration: UInt32
        /// Players cannot follow before the next keyframe.
        let isJump: Bool
    }

    /// Units per second.
    private let timescale: Int64
    /// When the newest sample is shown.
    private(set) var newest: Int64?
    private var decodeTime: Int64 = 0
    private var duration: Int64
    /// The time between the newest sample and the one before.
    private var interval: Int64?
    /// Whether the next sample need not follow the newest one.
    private var isRestarting = false

    /// In seconds. A decode time that lags behind more is brought up to date, which is a jump.
    private static let longestLag: Int64 = 10
    private static let lowestFrameRate: Int64 = 1

    /// - Parameter usual: the first sample's duration.
    init(timescale: Int, usual: Int64) {
        self.timescale = Int64(timescale)
        duration = usual
    }

    /// Whether a sample that is shown then would come too late for its own decode time.
    func isLate(_ time: Int64) -> Bool { newest != nil && time > decodeTime + 2 * duration }

    /// All tracks start again at a keyframe: the next sample may have its own decode time.
    mutating func restart() { isRestarting = true }

    /// - Parameters:
    ///   - time: when the sample is shown. One that is not after the newest sample follows it directly.
    ///   - known: its duration; `nil` for an estimate.
    mutating func append(at time: Int64, lasting known: Int64? = nil) -> Moment {
        guard let newest else { return accept(time, decodedAt: time, lasting: known ?? duration, isJump: false) }
        let time = max(time, newest + 1)
        // The shorter one of two intervals: a skipped frame before must not make this one last longer. Whatever it is, the next
        // sample's own time corrects it.
        let present = time - newest
        let estimate = min(present, interval ?? present, timescale / Self.lowestFrameRate)
        interval = present
        let latest = isRestarting ? time : decodeTime + 2 * duration
        isRestarting = false
        let isJump = time - latest > Self.longestLag * timescale
        return accept(time, decodedAt: isJump ? time : min(time, latest), lasting: known ?? estimate, isJump: isJump)
    }

    private mutating func accept(
        _ time: Int64, decodedAt decodeTime: Int64, lasting duration: Int64, isJump: Bool
    ) -> Moment {
        newest = time
        self.decodeTime = decodeTime
        self.duration = duration
        return Moment(
            decodeTime: decodeTime, compositionOffset: Int32(clamping: time - decodeTime),
            duration: UInt32(clamping: duration), isJump: isJump)
    }

    /// The same times in other units.
    func rescaled(to timescale: Int) -> MP4LiveTimes {
        guard timescale != self.timescale else { return self }
        func scaled(_ value: Int64) -> Int64 {
            let (seconds, rest) = value.quotientAndRemainder(dividingBy: self.timescale)
            return seconds * Int64(timescale) + rest * Int64(timescale) / self.timescale
        }
        var times = MP4LiveTimes(timescale: timescale, usual: max(1, scaled(duration)))
        times.newest = newest.map(scaled)
        times.decodeTime = scaled(decodeTime)
        times.interval = interval.map { max(1, scaled($0)) }
        times.isRestarting = isRestarting
        return times
    }
}
