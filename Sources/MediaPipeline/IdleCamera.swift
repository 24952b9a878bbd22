import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic
import VideoCapture

/// A camera that is open without a stream: its frames look as a stream's would.
struct IdleCamera {
    let source: AdjustedSource
    let filters: StreamFilters
    /// Of the source and the filters. Whoever reads frames for long empties it.
    let reports: Mailbox<TrackEvent>

    /// - Parameter stop: once signalled, the source ends at once. It is not drained.
    /// - Throws: a `StreamFailure` when the camera does not open.
    init(_ settings: MediaSettings, stop: EventFD) throws {
        reports = try Mailbox()
        let source = try VideoTrack.source(settings, stop: stop, requests: EncoderRequests(), reports: reports)
        guard let source else { throw StreamFailure(.cameraUnavailable, "there is no camera") }
        // What the camera lacks, each stream says.
        VideoTrack.setControls(of: source, settings.controls, EventSink { _ in })
        // There is no encoder to wait for.
        source.showAtOnce()
        self.source = source
        filters = StreamFilters(settings.filters, reports: reports)
    }

    /// What it has and is set to.
    var controlStatuses: [ControlStatus] {
        let (wished, report) = (source.wishedControls, source.cameraReport)
        return source.controlOffers.map { ControlStatus($0, wished: wished[$0.name], report: report) }
    }

    /// What it does not take is left out: a slider that was moved fast asks for more than one thing at a time.
    func apply(_ changes: [ControlChange]) {
        for change in changes where (try? source.controlOffers.check([change])) != nil { try? source.apply([change]) }
    }
}
