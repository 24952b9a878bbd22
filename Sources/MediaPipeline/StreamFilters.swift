import DevicePorts
import Filters
import FrameFiltering
import Glibc
import LinuxIO
import Media
import StreamLogic

/// A stream's filters: changes frames where they are, just before they are encoded. Used by the video thread.
final class StreamFilters {
    private let pass: FilterPass
    private var budget = FilterBudget()
    private var frameCount = 0
    /// When the frame was taken that went out last. Encoders and screens may read it still: a repetition of it stays as it is,
    /// filtered or not.
    private var sentTime: MediaTimestamp?
    /// Of a frame, with all that is done for it on the video thread, over the last sixteen or so.
    private var recentTime = 0.0
    private var hasReportedFailure = false
    private let reports: Mailbox<TrackEvent>

    init(_ filters: LoadedFilters, reports: Mailbox<TrackEvent>) {
        pass = FilterPass(filters)
        self.reports = reports
    }

    /// Frames need not be looked at.
    var isIdle: Bool { pass.isIdle }

    var readings: [FilterReading] {
        pass.costs.map {
            FilterReading($0.filter, frames: $0.frames, nanoseconds: $0.nanoseconds, isDropped: $0.isDropped)
        }
    }

    /// From the next frame on.
    func use(_ filters: LoadedFilters) {
        // What was left out of the chain before has its chance in this one.
        while let filter = pass.restoreLast() { reports.send(.video(.changed(.filterRestored(filter)))) }
        pass.use(filters)
        hasReportedFailure = false
        budget.chainChanged()
    }

    /// Changes the frame where it is. To be called with each frame that goes out, also while there is nothing to be done.
    /// - Parameter status: what text says of the stream.
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
            return reportFailure(failure.map { "\($0)" } ?? "their memory is not to be written")
        }
    }

    /// A frame that cannot be changed goes out as it is.
    private func reportFailure(_ reason: String) {
        guard !hasReportedFailure else { return }
        hasReportedFailure = true
        reports.send(.video(.filtersFailed(reason: reason)))
    }

    /// With each frame that was encoded.
    /// - Parameter duration: what was done for it on the video thread, filters and all.
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

/// What filters write of the stream that they are a part of.
public struct FilterStatus: Hashable, Sendable {
    /// Of the device.
    public var name = "tallycam"
    public var quality = ""
    public var bitrate = Bitrate(bitsPerSecond: 0)

    public init() {}
}
