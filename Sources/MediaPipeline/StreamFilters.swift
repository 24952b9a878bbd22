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
    /// What the newest frame's memory holds was filtered: a repetition of it is as it is.
    private var wasFiltered = false
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
        while pass.restoreLast() != nil {}
        pass.use(filters)
        budget.chainChanged()
    }

    /// Changes the frame, for all who hold it.
    /// - Parameter status: what text says of the stream.
    func apply(to frame: CapturedFrame, colors: VideoColors?, _ status: FilterStatus) {
        frameCount += 1
        guard !pass.isIdle else {
            wasFiltered = false
            restoreIfDue(at: frame.captureTime)
            return
        }
        guard !(frame.isRepetition && wasFiltered), frame.layout.format.isPlanar else { return }
        let fields = fields(of: frame, status)
        wasFiltered = false
        // A frame that cannot be changed goes out as it is.
        _ = frame.memory.modify { bytes in
            wasFiltered = (try? pass.apply(to: bytes, frame.layout, colors, fields)) != nil
        }
        keepWithinBudget(at: frame.captureTime)
    }

    private func fields(of frame: CapturedFrame, _ status: FilterStatus) -> TextFields {
        var fields = TextFields()
        fields.name = status.name
        fields.quality = status.quality
        fields.bitrate = status.bitrate
        fields.frame = frameCount - 1
        // The time of day when it was captured.
        let age = (MonotonicClock.now() - frame.captureTime).inSeconds
        fields.secondsSince1970 = Int64(max(0, min(1e12, Double(time(nil)) - max(0, age).rounded(.down))))
        return fields
    }

    private func keepWithinBudget(at time: MediaTimestamp) {
        perform(budget.frameFiltered(cost: .nanoseconds(Int64(min(pass.recentCost, 1e12))), at: time))
    }

    /// All filters are left out: nothing else asks for them.
    private func restoreIfDue(at time: MediaTimestamp) { perform(budget.frameFiltered(cost: .zero, at: time)) }

    private func perform(_ action: FilterBudget.Action?) {
        switch action {
        case .drop: if let filter = pass.dropMostExpensive() { reports.send(.encoder(.filterDropped(filter))) }
        case .restore: if let filter = pass.restoreLast() { reports.send(.encoder(.filterRestored(filter))) }
        case nil: break
        }
    }
}

/// What filters write of the stream that they are a part of.
public struct FilterStatus: Hashable, Sendable {
    /// Of the device.
    public var name = ""
    public var quality = ""
    public var bitrate = Bitrate(bitsPerSecond: 0)

    public init() {}
}
