import Controls
import LinuxIO
import Media
import StreamLogic

// The camera's controls, as a computer's dialogue has and moves them.
extension ApplianceRunner {
    func changeForComputer(_ change: ControlChange) {
        webcam.settings.add(change)
        applyComputersChanges(now: MonotonicClock.now())
    }

    /// When something is to be done for a computer.
    var nextWebcamDeadline: MediaTimestamp? {
        [webcam.settings.deadline, webcam.lookDeadline, webcam.retryTime, webcam.ending?.limit].compactMap { $0 }.min()
    }

    func webcamTimeReached(now: MediaTimestamp) {
        applyComputersChanges(now: now)
        if let deadline = webcam.lookDeadline, deadline <= now { cameraIsAway() }
        if webcam.takeRetry(now: now) { connectWebcam() }
        if webcam.takeEndTimeout(now: now) { webcamEnded() }
    }

    private func applyComputersChanges(now: MediaTimestamp) {
        apply(webcam.settings.takeWaiting(now: now))
    }

    /// Before somebody at the camera sets something: what was moved earlier is not to come later.
    func applyAllComputersChanges() { apply(webcam.settings.takeAllWaiting()) }

    /// Each by itself: one that the camera refuses, or lacks, takes no other along.
    /// - Parameter changes: to the camera that is open; one that is opened later gets all that was set.
    private func apply(_ changes: [ControlChange]) {
        let changes = changes.filter { change in
            webcam.controls?.contains { $0.offer.name == change.name && $0.offer.absence != nil } != true
        }
        guard !changes.isEmpty else { return }
        if stream.isRunning {
            for change in changes { stream.send(.apply(RequestedChanges(controls: [change]), nil)) }
        } else {
            stream.changeIdle(changes)
        }
    }

    /// What a computer has set, for a camera that was just opened.
    func settleCamera() { apply(webcam.settings.all) }

    /// A stream's camera takes controls as soon as it is live, and is still open when a connection comes back.
    func settleStream() {
        guard !webcam.isStreamSettled else { return }
        webcam.isStreamSettled = true
        settleCamera()
    }

    /// What the camera has that is open for a computer and no stream, and what it is set to; `nil` while there is none.
    var idleControls: [ControlStatus]? {
        webcam.isWanted && !stream.isRunning && stream.hasIdleCamera ? webcam.controls : nil
    }

    /// Somebody at the camera sets something that no stream sees. It holds like what the computer sets.
    func changeForPerson(_ changes: [ControlChange]) {
        applyAllComputersChanges()
        webcam.settings.hold(changes)
        stream.changeIdle(changes)
    }

    /// What the camera has is known.
    func takeControls(_ statuses: [ControlStatus]) {
        webcam.looked(statuses)
        webcam.relay.sink?.controlsChanged(statuses)
        connectWebcam()
    }

    /// The camera does not open: what it has cannot be asked.
    func cameraIsAway() {
        guard webcam.controls == nil else { return }
        webcam.looked([])
        connectWebcam()
    }
}
