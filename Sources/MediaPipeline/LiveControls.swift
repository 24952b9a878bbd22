import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic
import VideoCapture

/// The camera's controls while a stream runs: asks it for changes, waits for what it says, and tells it. Used by the video
/// thread.
final class LiveControls {
    private let camera: (any ControllableSource)?
    private let inUse: ControlsInUse
    private let reports: Mailbox<TrackEvent>
    private var waiting: [(confirmation: ControlConfirmation, id: CommandID?)] = []
    /// Of several cameras.
    private let switcher: CameraSwitcher?
    private var cameraName: String?
    /// In place of what a camera says that is not on any more.
    private static let answerAfterSwitch = "set before another camera came on; what it reports is not known"

    /// - Parameter switcher: what chooses among several cameras in `source`.
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

    /// - Parameter request: without changes, to have a look.
    func apply(_ request: EncoderRequests.ControlRequest) {
        guard let camera else { return }
        // What comes with another camera's first frame is for that one.
        followCamera()
        // What was refused before is not what is asked for now.
        reportRefusals()
        guard !request.changes.isEmpty else {
            look()
            return reports.send(.video(.controlled([], request.id)))
        }
        do throws(ControlError) {
            try camera.controlOffers.check(request.changes)
            try camera.apply(request.changes)
            waiting.append((ControlConfirmation(request.changes, at: MonotonicClock.now()), request.id))
        } catch {
            reports.send(.video(.controlRefused(error, request.id)))
        }
    }

    /// With every frame. A camera is asked only while somebody waits: a webcam's answers come over its cable.
    func watch() {
        followCamera()
        guard !waiting.isEmpty else { return }
        let now = MonotonicClock.now()
        let report = look()
        reportRefusals()
        var stillWaiting: [(confirmation: ControlConfirmation, id: CommandID?)] = []
        for var request in waiting {
            if let readings = request.confirmation.readings(by: report, now: now) {
                reports.send(.video(.controlled(readings, request.id)))
            } else {
                stillWaiting.append(request)
            }
        }
        waiting = stillWaiting
    }

    /// Those that nobody waits for are dropped.
    private func reportRefusals() {
        while let refusal = camera?.takeRefusal() {
            guard !waiting.isEmpty else { continue }
            reports.send(.video(.controlRefused(refusal, takeRequest(of: refusal)?.id)))
        }
    }

    /// The newest that asked for what was refused, which comes within a frame.
    private func takeRequest(of refusal: ControlError) -> (confirmation: ControlConfirmation, id: CommandID?)? {
        let asked = waiting.lastIndex { $0.confirmation.changes.contains { $0.name == refusal.control } }
        return asked.map { waiting.remove(at: $0) }
    }

    /// What another camera says is no answer: what was asked of the one before is done, as far as anybody knows.
    private func followCamera() {
        guard let switcher, switcher.name != cameraName else { return }
        cameraName = switcher.name
        for (confirmation, id) in waiting {
            let readings = confirmation.changes.map { change in
                ControlReading(change.name, change.value, reported: Self.answerAfterSwitch)
            }
            reports.send(.video(.controlled(readings, id)))
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
