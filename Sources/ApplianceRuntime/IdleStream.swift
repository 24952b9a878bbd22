import ApplianceLogic
import DevicePorts
import DeviceStreams
import LinuxIO
import Media
import Settings
import StreamLogic

// A stream without servers, for a recording or for viewers of the page.
extension StreamSupervisor {
    /// A missing camera is looked for this often.
    private static let retryInterval = Duration.seconds(15)

    /// - Parameter isAllowed: whether the camera may be seen.
    /// - Returns: whether camera and microphones are for this stream.
    func runIdleStream(isAllowed: Bool, now: MediaTimestamp) -> Bool {
        let isRecorded = isAllowed && device.recording.isWanted
        let isWanted = isRecorded || isAllowed && isViewerWanted && viewer != nil
        if let time = idleRetry, isWanted, now < time { return false }
        idleRetry = nil
        let screen = device.files.device.preview.camera == .always ? preview.sink : nil
        // A screen and a computer get the stream's frames.
        let isLowRate = !isRecorded && screen == nil && !device.webcam.wantsCamera
        do {
            let starts = try streams.runIdle(
                device.files, isWanted ? receivers(preview: screen, isLowRate: isLowRate) : nil, isMuted: startsMuted,
                now: now)
            if starts, isRecorded { device.faultsChanged(now: now) { $0.mediaForgiven() } }
        } catch {
            idleEnded(StreamFailure(.system, "\(error)"), choices: [], now: now)
        }
        return isWanted
    }

    /// The stream without servers is over, perhaps for one with servers.
    func idleEnded(_ failure: StreamFailure?, choices: [String], now: MediaTimestamp) {
        let isRecorded = device.recording.isWanted
        let isFollowed = streams.ended()
        device.commands.streamEnded(isFollowed: isFollowed)
        if let failure {
            device.tell(text: "\(isRecorded ? "recording is interrupted" : "the page has no video"): \(failure.text)")
            idleRetry = now + Self.retryInterval
            viewerProblem = failure.text
        }
        device.faultsChanged(now: now) { book in
            book.streamEnded()
            // Only viewers have asked for the camera, and the page tells them.
            if let failure, isRecorded {
                book.streamFailed(
                    FaultBook.Failure(ApplianceFault(failure), failure, choices: choices), now: now)
            }
        }
        if isFollowed { startWaiting(now: now) }
    }
}
