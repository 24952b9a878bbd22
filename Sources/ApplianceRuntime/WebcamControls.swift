import BoardRuntime
import Controls
import LinuxIO
import Media
import StreamLogic

// The camera's controls, as a computer's dialogue has and moves them.
extension WebcamRuntime {
    func changeForComputer(_ change: ControlChange) {
        duty.settings.add(change)
        applyComputersChanges(now: MonotonicClock.now())
    }

    func applyComputersChanges(now: MediaTimestamp) { apply(duty.settings.takeWaiting(now: now)) }

    /// Before somebody at the camera sets something: what was moved earlier is not to come later.
    func applyAllComputersChanges() { apply(duty.settings.takeAllWaiting()) }

    /// Each by itself: one that the camera refuses, or lacks, takes no other along.
    /// - Parameter changes: to the camera that is open; one that is opened later gets all that was set.
    private func apply(_ changes: [ControlChange]) {
        let changes = changes.filter { change in
            duty.controls?.contains { $0.offer.name == change.name && $0.offer.absence != nil } != true
        }
        guard !changes.isEmpty else { return }
        if device.stream.isRunning {
            for change in changes { device.stream.send(.apply(RequestedChanges(controls: [change]), nil)) }
        } else {
            device.stream.changeIdle(changes)
        }
    }

    /// What a computer has set, for a camera that was just opened.
    func settleCamera() { apply(duty.settings.all) }

    /// A stream's camera takes controls as soon as it is live, and is still open when a connection comes back.
    func settleStream() {
        guard !duty.isStreamSettled else { return }
        duty.isStreamSettled = true
        settleCamera()
    }

    /// What the camera has that is open for a computer and no stream, and what it is set to; `nil` while there is none.
    var idleControls: [ControlStatus]? {
        duty.isWanted && !device.stream.isRunning && device.stream.hasIdleCamera ? duty.controls : nil
    }

    /// Somebody at the camera sets something that no stream sees. It holds like what the computer sets.
    func changeForPerson(_ changes: [ControlChange]) {
        applyAllComputersChanges()
        duty.settings.hold(changes)
        device.stream.changeIdle(changes)
    }

    /// The values of these controls that a computer has set.
    func settings(of names: [ControlName]) -> [ControlChange] { duty.settings.held(of: names) }

    /// A person has set other values.
    /// - Parameter former: as `settings` gave them before.
    func forget(_ former: [ControlChange]) { duty.settings.forget(former) }

    /// The camera has reported its controls.
    func takeControls(_ statuses: [ControlStatus]) {
        duty.looked(statuses)
        relay.sink?.controlsChanged(statuses)
        connect()
    }

    /// The camera does not open: what it has cannot be asked.
    func cameraIsAway() {
        guard duty.controls == nil else { return }
        duty.looked([])
        connect()
    }
}
