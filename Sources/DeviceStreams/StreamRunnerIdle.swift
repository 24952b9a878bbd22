import CardStorage
import Controls
import DevicePorts
import LinuxIO
import Media

/// What a stream without servers was started for.
struct IdleStream: Hashable {
    let sources: SourceDescription
    let isLowRate: Bool

    init(_ files: DescriptionFiles, for receivers: StreamReceivers) {
        sources = SourceDescription(files)
        isLowRate = receivers.isLowRate
    }
}

// Camera and microphones without a stream, for a screen or a computer.
extension StreamRunner {
    /// Passes the camera's frames to screen and computer while nothing else needs the camera.
    /// - Parameter sinks: empty to stop.
    /// - Returns: whether the camera is opened by this call.
    package func feedIdle(_ sinks: [any FrameSink], of camera: SourceDescription, now: MediaTimestamp) -> Bool {
        if let present = idleFrames.request {
            if !present.isSame(camera, sinks) { idleFrames.stop(now: now) }
            return false
        }
        guard !sinks.isEmpty, !isCameraTaken, !startsAgain, let changes = try? Mailbox<[ControlChange]>() else {
            return false
        }
        // If a thread cannot be started now, the next call may succeed.
        try? idleFrames.start(IdleFramesRequest(camera: camera, sinks: sinks, changes: changes))
        return idleFrames.request != nil
    }

    /// Lets a computer hear the microphones while no stream needs them.
    /// - Parameter sink: `nil` to stop.
    package func feedIdleAudio(_ sink: (any AudioSink)?, of files: DescriptionFiles, now: MediaTimestamp) {
        if let present = idleAudio.request {
            if present.device != files.device || present.sink !== sink { idleAudio.stop(now: now) }
            return
        }
        guard let sink, !isRunning, !startsAgain else { return }
        try? idleAudio.start(IdleAudioRequest(device: files.device, board: files.board, sink: sink))
    }

    /// The thread has reported its end.
    /// - Returns: whether to start a stream now.
    package func idleFramesEnded(_ number: Int, now: MediaTimestamp) -> Bool {
        idleFrames.ended(number) && devicesFreed(now: now)
    }

    /// See `idleFramesEnded`.
    package func idleAudioEnded(_ number: Int, now: MediaTimestamp) -> Bool {
        idleAudio.ended(number) && devicesFreed(now: now)
    }
}
