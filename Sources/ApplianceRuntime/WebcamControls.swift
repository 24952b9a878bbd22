import BoardRuntime
import Controls
import LinuxIO
import Media
import StreamLogic

// The camera's controls, as a computer's dialog reads and changes them.
extension WebcamRuntime {
    func changeForComputer(_ change: ControlChange) {
        duty.settings.add(change)
        applyComputersChanges(now: MonotonicClock.now())
    }

    func applyComputersChanges(now: MediaTimestamp) { apply(duty.settings.takeWaiting(now: now)) }

    /// Call it before someone at the camera sets a control, so that earlier changes by the computer cannot arrive later.
    func applyAllComputersChanges() { apply(duty.settings.takeAllWaiting()) }

    /// Applies the changes one by one, so that a refused or missing control does not affect the others.
    /// - Parameter changes: for the open camera; a camera opened later gets all values again.
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

    /// Restores the computer's values on a newly opened camera.
    func settleCamera() { apply(duty.settings.all) }

    /// A stream's camera accepts controls as soon as it is live, and stays open across reconnections.
    func settleStream() {
        guard !duty.isStreamSettled else { return }
        duty.isStreamSettled = true
        settleCamera()
    }

    /// The controls of a camera that is open for a computer without a stream; `nil` if there is none.
    var idleControls: [ControlStatus]? {
        duty.isWanted && !device.stream.isRunning && device.stream.hasIdleCamera ? duty.controls : nil
    }

    /// Someone at the camera sets a control without a stream. The value persists like the computer's.
    func changeForPerson(_ changes: [ControlChange]) {
        applyAllComputersChanges()
        duty.settings.hold(changes)
        device.stream.changeIdle(changes)
    }

    /// The computer's values of these controls.
    func settings(of names: [ControlName]) -> [ControlChange] { duty.settings.held(of: names) }

    /// A person has set other values.
    /// - Parameter former: the earlier result of `settings`.
    func forget(_ former: [ControlChange]) { duty.settings.forget(former) }

    /// The camera has reported its controls.
    func takeControls(_ statuses: [ControlStatus]) {
        duty.looked(statuses)
        relay.sink?.controlsChanged(statuses)
        connect()
    }

    /// The camera cannot be opened, so its controls are unknown.
    func cameraIsAway() {
        guard duty.controls == nil else { return }
        duty.looked([])
        connect()
    }
}
