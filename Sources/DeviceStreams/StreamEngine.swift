import ApplianceLogic
import DevicePorts
import LinuxIO
import StreamLogic
import USBVideo

/// How this machine streams. The executable knows its cameras, encoders and connections; the appliance does not.
public protocol StreamEngine: Sendable {
    /// Runs a stream to its end, on the calling thread.
    func run(_ request: StreamRequest, commands: Mailbox<PublisherCommand>, reporter: EventSink) throws

    /// Opens the camera for one snapshot, on the calling thread, until the descriptor is signalled at the latest.
    /// - Returns: with the snapshot, how bright it is.
    func takeStill(_ request: StillRequest, stop: EventFD) -> (SnapshotAnswer, Brightness?)

    /// Shows the camera's frames without a stream, on the calling thread, until the descriptor is signalled. The camera is closed
    /// when this returns.
    func feedIdle(_ request: IdleFramesRequest, stop: EventFD, report: (IdleFramesEvent) -> Void)

    /// Lets a computer hear the microphones without a stream, as `feedIdle`.
    func feedIdleAudio(_ request: IdleAudioRequest, stop: EventFD, report: (IdleAudioEvent) -> Void)

    /// What the files could name in place of a camera or microphone that is missing. May take seconds.
    func devices(insteadOf fault: ApplianceFault) -> [String]

    /// Opens the display for the preview, which lights it when it is there.
    func openPreview(report: @escaping @Sendable (PreviewEvent) -> Void) throws -> any PreviewSink

    /// Makes the camera a computer's webcam, for as long as the returned sink lives.
    func openWebcam(
        _ request: WebcamRequest, report: @escaping @Sendable (WebcamReport) -> Void
    ) throws -> any WebcamSink

    /// Why the board cannot be a webcam at present, if that is known without trying. `openWebcam` is tried anyway.
    var webcamAbsence: String? { get }

    /// Removes the webcam that a killed run of the program has left.
    func removeFormerWebcam()
}
