import DevicePorts
import Filters
import FrameFiltering
import Glibc
import LinuxIO
import Media
import StreamLogic

/// A stream's filters, which modify frames in place right before encoding. Used by the video thread.
final class StreamFilters {
    private let pass: FilterPass
    private var budget = FilterBudget()
    private var frameCount = 0
    /// Capture time of the last frame that was sent. Encoders and screens may still be reading it, so a repetition of it must
    /// not be modified again.
    private var sentTime: MediaTimestamp?
    /// Time per frame for everything that the video thread does, averaged over about sixteen frames.
    private var recentTime = 0.0
    private var hasReportedFailure = false
    private let reports: Mailbox<TrackEvent>

    init(_ filters: LoadedFilters, reports: Mailbox<TrackEvent>) {
        pass = FilterPass(filters)
        self.reports = reports
    }

    /// Whether frames need no processing.
    var isIdle: Bool { pass.isIdle }

    var readings: [FilterReading] {
        pass.costs.map {
            FilterReading($0.filter, frames: $0.frames, nanoseconds: $0.nanoseconds, isDropped: $0.isDropped)
        }
    }

    /// Takes effect with the next frame.
    func use(_ filters: LoadedFilters) {
        // Filters that were dropped from the previous chain get another chance.
        while let filter = pass.restoreLast() { reports.send(.video(.changed(.filterRestored(filter)))) }
        pass.use(filters)
        hasReportedFailure = false
        budget.chainChanged()
    }

    /// Modifies the frame in place. Call it for each frame that is sent, even without filters.
    /// - Parameter status: the stream's state that text filters show.
    func apply(to frame: CapturedFrame, colors: VideoColors?, _ status: FilterStatus) {
        frameCount += 1
        let isSentAgain = frame.repeats != nil && frame.repeats == sentTime
        sentTime = frame.repeats ?? frame.captureTime
        guard !pass.isIdle, !isSentAgain, frame.layout.format.isPlanar else { return }
        let fields = fields(of: frame, status)
        var failure: (any Error)?
        let isWritten = frame.memory.modify { bytes in
            do { try pass.apply(to: bytes, frame.layout, colors, fields) } catch { failure = error }
        }
        guard isWritten, failure == nil else {
            return reportFailure(failure.map { "\($0)" } ?? "their memory is read-only")
        }
    }

    /// A frame that cannot be modified is sent unchanged.
    private func reportFailure(_ reason: String) {
        guard !hasReportedFailure else { return }
        hasReportedFailure = true
        reports.send(.video(.filtersFailed(reason: reason)))
    }

    /// Called for each encoded frame.
    /// - Parameter duration: time that the video thread spent on it, including filters.
    func frameDone(after duration: Duration, at time: MediaTimestamp) {
        recentTime += (duration.inSeconds - recentTime) / 16
        let cost = FilterBudget.charge(
            filters: .seconds(min(1000, pass.recentCost / 1e9)), everything: .seconds(min(1000, recentTime)))
        perform(budget.frameFiltered(cost: pass.isIdle ? .zero : cost, at: time))
    }

    private func fields(of frame: CapturedFrame, _ status: FilterStatus) -> TextFields {
        var fields = TextFields()
        fields.name = status.name
        fields.quality = status.quality
        fields.bitrate = status.bitrate
        fields.frame = frameCount - 1
        // The time of day when it was captured.
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = max(0, (MonotonicClock.now() - frame.captureTime).inSeconds)
        let seconds = Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - age
        fields.secondsSince1970 = Int64(max(0, min(1e12, seconds.rounded(.down))))
        fields.offset = WallClock.offset(at: fields.secondsSince1970)
        return fields
    }

    private func perform(_ action: FilterBudget.Action?) {
        switch action {
        case .drop: if let filter = pass.dropMostExpensive() { reports.send(.video(.changed(.filterDropped(filter)))) }
        case .restore: if let filter = pass.restoreLast() { reports.send(.video(.changed(.filterRestored(filter)))) }
        case nil: break
        }
    }
}

/// A stream's state as shown by its text filters.
public struct FilterStatus: Hashable, Sendable {
    /// The device's name, for the field {name}.
    public var name = "tallycam"
    public var quality = ""
    public var bitrate = Bitrate(bitsPerSecond: 0)

    public init() {}
}
