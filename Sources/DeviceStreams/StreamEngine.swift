import ApplianceLogic
import DevicePorts
import LinuxIO
import StreamLogic
import USBVideo

/// How this machine streams. The executable knows its cameras, encoders and connections; the appliance does not.
public protocol StreamEngine: Sendable {
    /// Runs a stream to its end on the calling thread.
    func run(_ request: StreamRequest, commands: Mailbox<PublisherCommand>, reporter: EventSink) throws

    /// Opens the camera for one snapshot on the calling thread, until the descriptor is signaled at the latest.
    /// - Returns: the snapshot and its brightness.
    func takeStill(_ request: StillRequest, stop: EventFD) -> (SnapshotAnswer, Brightness?)

    /// Passes on the camera's frames without a stream, on the calling thread, until the descriptor is signaled. The camera is
    /// closed when this returns.
    func feedIdle(_ request: IdleFramesRequest, stop: EventFD, report: (IdleFramesEvent) -> Void)

    /// Lets a computer hear the microphones without a stream. See `feedIdle`.
    func feedIdleAudio(_ request: IdleAudioRequest, stop: EventFD, report: (IdleAudioEvent) -> Void)

    /// Cameras or microphones that the files could name instead of a missing one. May take seconds.
    func devices(insteadOf fault: ApplianceFault) -> [String]

    /// The machine's cameras or microphones, as the files name them. May take seconds. Do not ask for cameras while one is open.
    func list(_ kind: DeviceList.Kind) -> DeviceList

    /// The machine's hardware encoders. May take seconds. Do not call it while a stream encodes.
    func findEncoders() -> EncoderFinding

    /// Why an image or movie that device.json names as a camera cannot be used; `nil` if it can, or for other sources.
    func problem(ofFileSource source: String) -> String?

    /// Opens the display for the preview, which lights up when it is connected.
    func openPreview(report: @escaping @Sendable (PreviewEvent) -> Void) throws -> any PreviewSink

    /// Makes the camera a computer's webcam for as long as the returned sink lives.
    func openWebcam(
        _ request: WebcamRequest, report: @escaping @Sendable (WebcamReport) -> Void
    ) throws -> any WebcamSink

    /// Why the board cannot be a webcam right now, as far as that is known without trying. `openWebcam` is tried anyway.
    var webcamAbsence: String? { get }

    /// Removes the webcam that a killed run of the program left behind.
    func removeFormerWebcam()
}
