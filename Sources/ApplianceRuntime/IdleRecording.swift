import ApplianceLogic
import DevicePorts
import DeviceStreams
import LinuxIO
import Media
import Settings
import StreamLogic

// Recording while there is no stream.
extension StreamSupervisor {
    /// A missing camera is looked for this often.
    private static let retryInterval = Duration.seconds(15)

    /// - Parameter isAllowed: whether the camera may be seen.
    /// - Returns: whether camera and microphones are for the recording.
    func recordWhileIdle(isAllowed: Bool, now: MediaTimestamp) -> Bool {
        let isWanted = isAllowed && device.recording.isWanted
        if let time = recordingRetry, isWanted, now < time { return false }
        recordingRetry = nil
        let screen = device.files.device.preview.camera == .always ? preview.sink : nil
        do {
            let starts = try streams.record(
                device.files, isWanted ? receivers(preview: screen) : nil, isMuted: startsMuted, now: now)
            if starts { device.faultsChanged(now: now) { $0.mediaForgiven() } }
        } catch {
            recordedEnded(StreamFailure(.system, "\(error)"), choices: [], now: now)
        }
        return isWanted
    }

    /// The stream that was only recorded is over, perhaps for one with servers.
    func recordedEnded(_ failure: StreamFailure?, choices: [String], now: MediaTimestamp) {
        let isFollowed = streams.ended()
        device.commands.streamEnded(isFollowed: isFollowed)
        if let failure {
            device.tell(text: "recording is interrupted: \(failure.text)")
            recordingRetry = now + Self.retryInterval
        }
        device.faultsChanged(now: now) { book in
            book.streamEnded()
            if let failure {
                book.streamFailed(
                    FaultBook.Failure(ApplianceFault(failure), failure, choices: choices), now: now)
            }
        }
        if isFollowed { startWaiting(now: now) }
    }
}
