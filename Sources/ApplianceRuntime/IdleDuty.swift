import DevicePorts
import DeviceStreams
import LinuxIO
import Media
import StreamLogic

// Camera and microphones that are open without a stream, for the screen or a computer.
extension StreamSupervisor {
    /// Opens camera and microphones for those who want them while nothing else needs them.
    func feedWhileIdle(now: MediaTimestamp) {
        let (webcam, files) = (device.webcam, device.files)
        // A paused stream may be interrupted for a moment. The camera must not be seen or heard then.
        let isAllowed = !device.appliance.isPoweringOff && !device.appliance.isPaused
        let isStreaming = runIdleStream(isAllowed: isAllowed, now: now)
        var sinks: [any FrameSink] = []
        if files.device.preview.camera == .always, let screen = preview.sink { sinks.append(screen) }
        if webcam.wantsCamera { sinks.append(webcam.relay) }
        if streams.feedIdle(isAllowed && !isStreaming ? sinks : [], of: SourceDescription(files), now: now) {
            webcam.settleCamera()
        }
        streams.feedIdleAudio(
            webcam.wantsMicrophone && isAllowed && !isStreaming ? webcam.relay : nil, of: files, now: now)
    }

    func idleFramesChanged(_ event: IdleFramesEvent) {
        if let text = event.text { device.tell(text: text) }
        switch event {
        case .away:
            preview.cameraProblem = event.text
            device.webcam.idleCameraChanged(problem: event.text)
            device.webcam.cameraIsAway()
        case .returned: idleCameraReturned()
        case .controls(let statuses): device.webcam.takeControls(statuses)
        }
        device.webcam.show()
    }

    func idleCameraReturned() {
        preview.cameraProblem = nil
        device.webcam.idleCameraChanged(problem: nil)
    }

    func idleAudioChanged(_ event: IdleAudioEvent) {
        device.tell(text: event.text)
        device.webcam.idleMicrophoneChanged(problem: event.problem)
    }
}

extension IdleAudioEvent {
    /// Why nothing is heard; `nil` if something is.
    fileprivate var problem: String? { if case .away(let reason) = self { reason } else { nil } }
}
