import LinuxIO
import Media
import USBVideo

// What computers do with the webcam, and what people at the camera say to that.
extension ApplianceRunner {
    /// - Parameter number: of the gadget.
    func webcamReported(_ report: WebcamReport, of number: Int) {
        if report == .ended {
            webcam.ended(number)
            return webcamEnded()
        }
        guard webcam.relay.sink != nil, number == webcam.number else { return }
        let waited = webcam.waitsForPress
        switch report {
        case .event(let event):
            tell(event.text)
            webcamChanged(event)
        case .change(let change): return changeForComputer(change)
        case .recorded(let isRecorded):
            webcam.isRecorded = isRecorded
            webcam.problems.card = nil
            // Another camera's controls may have waited for the end of it.
            if !isRecorded, let controls = webcam.controls { webcam.relay.sink?.controlsChanged(controls) }
        case .ended: break
        }
        // The files may have changed while somebody looked.
        if !webcam.isUsed { openWebcam() }
        if webcam.waitsForPress, !waited { tell("webcam: a program wants to see or hear; press the button to let it") }
        showWebcam()
    }

    /// A gadget is gone, or the kernel keeps it for too long.
    func webcamEnded() {
        guard webcam.ending == nil else { return }
        commands.webcamStopped()
        connectWebcam()
    }

    var webcamAnswer: CommandAnswer { .done(["webcam: \(webcam.status.text ?? "off")"]) }

    private func webcamChanged(_ event: WebcamEvent) {
        switch event {
        case .changed(let state):
            (webcam.state, webcam.isStalled, webcam.problems.gadget) = (state, false, nil)
            // The next computer is asked for anew.
            if state == .notConnected { webcam.relay.isAllowed = webcam.plan?.asks != true }
        case .stalled(let isStalled): webcam.isStalled = isStalled
        case .failed(let reason): webcam.problems.gadget = reason
        case .microphoneFailed(let reason): webcam.problems.card = reason
        case .impaired: break
        }
    }

    func showWebcam() {
        perform(appliance.webcamChanged(to: webcam.use, now: MonotonicClock.now()))
    }

    /// - Returns: whether somebody's agreement was an answer to a computer.
    func allowWebcam() -> Bool {
        guard webcam.waitsForPress, let sink = webcam.relay.sink else { return false }
        webcam.relay.isAllowed = true
        sink.allow()
        showWebcam()
        return true
    }

    /// Without a stream, whose own mute the computer hears as well.
    func muteWebcam(_ isMuted: Bool) -> CommandAnswer {
        personActed()
        webcam.relay.isMuted = isMuted
        tell("webcam: \(isMuted ? "muted" : "heard")")
        return webcamAnswer
    }

    /// Makes the camera a webcam, or ends that, until the program ends.
    func setWebcam(_ isWanted: Bool) -> CommandAnswer {
        personActed()
        webcam.wish = isWanted
        openWebcam()
        guard webcam.isWanted, let problem = stream.engine.webcamAbsence ?? webcam.problems.gadget else {
            return webcamAnswer
        }
        return .failed("no webcam: \(problem); it is tried again")
    }
}
