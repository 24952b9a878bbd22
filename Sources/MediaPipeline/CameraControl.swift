import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// The camera's controls while a stream runs: asks it for changes, waits for what it says, and tells it. Used by the video
/// thread.
final class CameraControl {
    /// Who looks at the controls finds them no older than this.
    private static let lookInterval = Duration.milliseconds(500)

    private let camera: (any ControllableSource)?
    private let inUse: ControlsInUse
    private let reports: Mailbox<TrackEvent>
    private var waiting: [(confirmation: ControlConfirmation, id: CommandID?)] = []
    private var nextLook = MediaTimestamp.zero

    init(_ source: any VideoSource, inUse: ControlsInUse, reports: Mailbox<TrackEvent>) {
        camera = source as? any ControllableSource
        self.inUse = inUse
        self.reports = reports
        look()
    }

    func apply(_ request: EncoderRequests.ControlRequest) {
        guard let camera else { return }
        do throws(ControlError) {
            try camera.controlOffers.check(request.changes)
            try camera.apply(request.changes)
            waiting.append((ControlConfirmation(request.changes, at: MonotonicClock.now()), request.id))
        } catch {
            reports.send(.controlRefused(error, request.id))
        }
    }

    /// With every frame.
    func watch() {
        let now = MonotonicClock.now()
        guard !waiting.isEmpty || now >= nextLook else { return }
        nextLook = now + Self.lookInterval
        let report = look()
        // The oldest is what it is about.
        if let refusal = camera?.takeRefusal() {
            reports.send(.controlRefused(refusal, waiting.isEmpty ? nil : waiting.removeFirst().id))
        }
        var stillWaiting: [(confirmation: ControlConfirmation, id: CommandID?)] = []
        for var (confirmation, id) in waiting {
            if let readings = confirmation.readings(by: report, now: now) {
                reports.send(.controlled(readings, id))
            } else {
                stillWaiting.append((confirmation, id))
            }
        }
        waiting = stillWaiting
    }

    @discardableResult
    private func look() -> CameraReport {
        guard let camera else { return CameraReport() }
        let report = camera.cameraReport
        inUse.update(.init(offers: camera.controlOffers, wished: camera.wishedControls, report: report))
        return report
    }
}
