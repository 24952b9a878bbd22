import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic
import VideoCapture

/// The camera's controls during a stream: passes on changes, waits for the camera's values, and reports them. Used by the video
/// thread.
final class LiveControls {
    private let camera: (any ControllableSource)?
    private let inUse: ControlsInUse
    private let reports: Mailbox<TrackEvent>
    private var waiting: [(confirmation: ControlConfirmation, asker: ControlAsker?)] = []
    /// If there are several cameras.
    private let switcher: CameraSwitcher?
    private var cameraName: String?
    /// The answer for a camera that is no longer active.
    private static let answerAfterSwitch = "set before the camera was switched; what it reports is unknown"

    /// - Parameter switcher: the part of `source` that chooses among several cameras.
    init(
        _ source: any VideoSource, switcher: CameraSwitcher?, inUse: ControlsInUse, reports: Mailbox<TrackEvent>
    ) {
        camera = source.controls
        self.switcher = switcher
        cameraName = switcher?.name
        self.inUse = inUse
        self.reports = reports
        look()
    }

    /// - Parameter request: without changes, it only asks for a report.
    func apply(_ request: EncoderRequests.ControlRequest) {
        guard let camera else { return }
        // A request that arrives with another camera's first frame is for that camera.
        followCamera()
        // Earlier refusals do not concern this request.
        reportRefusals()
        guard !request.changes.isEmpty else {
            look()
            return reports.send(.video(.controlled([], request.asker)))
        }
        do throws(ControlError) {
            try camera.controlOffers.check(request.changes)
            try camera.apply(request.changes)
            waiting.append((ControlConfirmation(request.changes, at: MonotonicClock.now()), request.asker))
        } catch {
            reports.send(.video(.controlRefused(error, request.asker)))
        }
    }

    /// Called for each frame. Queries the camera only while someone waits, because a webcam answers over its cable.
    func watch() {
        followCamera()
        guard !waiting.isEmpty else { return }
        let now = MonotonicClock.now()
        let report = look()
        reportRefusals()
        var stillWaiting: [(confirmation: ControlConfirmation, asker: ControlAsker?)] = []
        for var request in waiting {
            if let readings = request.confirmation.readings(by: report, now: now) {
                reports.send(.video(.controlled(readings, request.asker)))
            } else {
                stillWaiting.append(request)
            }
        }
        waiting = stillWaiting
    }

    /// Refusals that nobody waits for are dropped.
    private func reportRefusals() {
        while let refusal = camera?.takeRefusal() {
            guard !waiting.isEmpty else { continue }
            reports.send(.video(.controlRefused(refusal, takeRequest(of: refusal)?.asker)))
        }
    }

    /// The newest request for the refused control; refusals arrive within a frame.
    private func takeRequest(of refusal: ControlError) -> (confirmation: ControlConfirmation, asker: ControlAsker?)? {
        let asked = waiting.lastIndex { $0.confirmation.changes.contains { $0.name == refusal.control } }
        return asked.map { waiting.remove(at: $0) }
    }

    /// Another camera's report is not an answer. Requests to the previous camera count as done, as far as that can be known.
    private func followCamera() {
        guard let switcher, switcher.name != cameraName else { return }
        cameraName = switcher.name
        for (confirmation, asker) in waiting {
            let readings = confirmation.changes.map { change in
                ControlReading(change.name, change.value, reported: Self.answerAfterSwitch)
            }
            reports.send(.video(.controlled(readings, asker)))
        }
        waiting = []
        look()
    }

    @discardableResult
    private func look() -> CameraReport {
        guard let camera else { return CameraReport() }
        let report = camera.cameraReport
        inUse.update(.init(offers: camera.controlOffers, wished: camera.wishedControls, report: report))
        return report
    }
}
