import DevicePorts
import LinuxIO
import Media
import StreamLogic

// Camera and microphones that are open without a stream, for the screen or a computer.
extension ApplianceRunner {
    /// Opens them for whoever wants them, as long as nothing else needs them.
    func feedWhileIdle(now: MediaTimestamp) {
        // A paused stream may be away for a moment: nobody is to see or hear the camera then.
        let isAllowed = !appliance.isPoweringOff && !appliance.isPaused
        var sinks: [any FrameSink] = []
        if files.device.preview.camera == .always, let screen = preview.sink { sinks.append(screen) }
        if webcam.wantsCamera { sinks.append(webcam.relay) }
        if stream.feedIdle(isAllowed ? sinks : [], of: IdleCameraDescription(files), now: now) { settleCamera() }
        stream.feedIdleAudio(webcam.wantsMicrophone && isAllowed ? webcam.relay : nil, of: files, now: now)
    }

    func idleFramesChanged(_ event: IdleFramesEvent) {
        if let text = event.text { tell(text) }
        switch event {
        case .away:
            (preview.cameraProblem, webcam.problems.idleCamera) = (event.text, event.text)
            cameraIsAway()
        case .returned: cameraIsThere()
        case .controls(let statuses): takeControls(statuses)
        }
        showWebcam()
    }

    private func cameraIsThere() { (preview.cameraProblem, webcam.problems.idleCamera) = (nil, nil) }

    func idleFramesEnded(_ number: Int) {
        let now = MonotonicClock.now()
        cameraIsThere()
        showWebcam()
        if stream.idleFramesEnded(number, now: now) { startWaitingStream(now: now) }
    }

    func idleAudioChanged(_ event: IdleAudioEvent) {
        tell(event.text)
        webcam.problems.idleMicrophone = if case .away(let reason) = event { reason } else { nil }
    }

    func idleAudioEnded(_ number: Int) {
        let now = MonotonicClock.now()
        webcam.problems.idleMicrophone = nil
        if stream.idleAudioEnded(number, now: now) { startWaitingStream(now: now) }
    }
}
