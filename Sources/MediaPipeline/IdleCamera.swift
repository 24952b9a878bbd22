import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic
import VideoCapture

/// A camera that is open without a stream. Its frames look as they would in a stream.
struct IdleCamera {
    let source: AdjustedSource
    let filters: StreamFilters
    /// Reports of source and filters. A caller that reads frames for long must empty it.
    let reports: Mailbox<TrackEvent>

    /// - Parameter stop: ends the source when signaled. It is not drained.
    /// - Throws: a `StreamFailure` if the camera cannot be opened.
    init(_ settings: MediaSettings, stop: EventFD) throws {
        reports = try Mailbox()
        let source = try VideoTrack.source(settings, stop: stop, requests: EncoderRequests(), reports: reports)
        guard let source else { throw StreamFailure(.cameraUnavailable, "there is no camera") }
        // Each stream reports the controls that the camera lacks; no need to do so here.
        VideoTrack.setControls(of: source, settings.controls, EventSink { _ in })
        // There is no encoder to wait for.
        source.showAtOnce()
        self.source = source
        filters = StreamFilters(settings.filters, reports: reports)
    }

    /// The camera's controls and their values.
    var controlStatuses: [ControlStatus] {
        let (wished, report) = (source.wishedControls, source.cameraReport)
        return source.controlOffers.map { ControlStatus($0, wished: wished[$0.name], report: report) }
    }

    /// Skips controls that the camera does not accept: a slider moved quickly may request several things at once.
    func apply(_ changes: [ControlChange]) {
        for change in changes where (try? source.controlOffers.check([change])) != nil { try? source.apply([change]) }
    }
}
