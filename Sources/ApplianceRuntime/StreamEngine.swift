import ApplianceLogic
import DevicePorts
import LinuxIO
import StreamLogic
import USBVideo

/// How this machine streams: cameras, encoders and connections are not known here.
public struct StreamEngine: Sendable {
    /// Runs a stream to its end, on the calling thread.
    let run: @Sendable (StreamRequest, Mailbox<PublisherCommand>, EventSink) throws -> Void
    /// Opens the camera for one snapshot, on the calling thread, until the descriptor is signalled at the latest. With the
    /// snapshot it says how bright that is.
    let takeStill: @Sendable (StillRequest, EventFD) -> (SnapshotAnswer, Brightness?)
    /// Shows the camera's frames without a stream, on the calling thread, until the descriptor is signalled. The camera is closed
    /// when it returns.
    let feedIdle: @Sendable (IdleFramesRequest, EventFD, (IdleFramesEvent) -> Void) -> Void
    /// Lets a computer hear the microphones without a stream, as `feedIdle`.
    let feedIdleAudio: @Sendable (IdleAudioRequest, EventFD, (IdleAudioEvent) -> Void) -> Void
    /// What the files could name in place of a camera or microphone that was not there. Takes its time.
    let devices: @Sendable (ApplianceFault) -> [String]

    /// Opens the display for the preview, which lights it when it is there.
    let openPreview: @Sendable (@escaping @Sendable (PreviewEvent) -> Void) throws -> any PreviewSink

    /// Makes the camera a computer's webcam, for as long as what is returned lives.
    let openWebcam: @Sendable (WebcamRequest, @escaping @Sendable (WebcamReport) -> Void) throws -> any WebcamSink

    /// Why the board can be no webcam at present, as far as that is known at once; `openWebcam` tries it anyway, again and again.
    let webcamAbsence: @Sendable () -> String?

    /// Takes down what a run that was killed has left of one.
    let removeFormerWebcam: @Sendable () -> Void

    public init(
        run: @escaping @Sendable (StreamRequest, Mailbox<PublisherCommand>, EventSink) throws -> Void,
        takeStill: @escaping @Sendable (StillRequest, EventFD) -> (SnapshotAnswer, Brightness?),
        feedIdle: @escaping @Sendable (IdleFramesRequest, EventFD, (IdleFramesEvent) -> Void) -> Void,
        feedIdleAudio: @escaping @Sendable (IdleAudioRequest, EventFD, (IdleAudioEvent) -> Void) -> Void,
        devices: @escaping @Sendable (ApplianceFault) -> [String],
        openPreview: @escaping @Sendable (@escaping @Sendable (PreviewEvent) -> Void) throws -> any PreviewSink,
        openWebcam: @escaping @Sendable (
            WebcamRequest, @escaping @Sendable (WebcamReport) -> Void
        ) throws -> any WebcamSink,
        webcamAbsence: @escaping @Sendable () -> String?,
        removeFormerWebcam: @escaping @Sendable () -> Void
    ) {
        self.run = run
        self.takeStill = takeStill
        self.feedIdle = feedIdle
        self.feedIdleAudio = feedIdleAudio
        self.devices = devices
        self.openPreview = openPreview
        self.openWebcam = openWebcam
        self.webcamAbsence = webcamAbsence
        self.removeFormerWebcam = removeFormerWebcam
    }
}
