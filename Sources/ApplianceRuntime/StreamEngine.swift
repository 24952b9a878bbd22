import ApplianceLogic
import DevicePorts
import LinuxIO
import StreamLogic

/// How this machine streams: cameras, encoders and connections are not known here.
public struct StreamEngine: Sendable {
    /// Runs a stream to its end, on the calling thread.
    let run: @Sendable (StreamRequest, Mailbox<PublisherCommand>, EventSink) throws -> Void
    /// Opens the camera for one snapshot, on the calling thread, until the descriptor is signalled at the latest. With the
    /// snapshot it says how bright that is.
    let takeStill: @Sendable (StillRequest, EventFD) -> (SnapshotAnswer, Brightness?)
    /// Shows the camera's frames without a stream, on the calling thread, until the descriptor is signalled. The camera is closed
    /// when it returns.
    let previewIdle: @Sendable (IdlePreviewRequest, EventFD, (IdlePreviewEvent) -> Void) -> Void
    /// What the files could name in place of a camera or microphone that was not there. Takes its time.
    let devices: @Sendable (ApplianceFault) -> [String]

    /// Opens the display for the preview, which lights it when it is there.
    let openPreview: @Sendable (@escaping @Sendable (PreviewEvent) -> Void) throws -> any PreviewSink

    public init(
        run: @escaping @Sendable (StreamRequest, Mailbox<PublisherCommand>, EventSink) throws -> Void,
        takeStill: @escaping @Sendable (StillRequest, EventFD) -> (SnapshotAnswer, Brightness?),
        previewIdle: @escaping @Sendable (IdlePreviewRequest, EventFD, (IdlePreviewEvent) -> Void) -> Void,
        devices: @escaping @Sendable (ApplianceFault) -> [String],
        openPreview: @escaping @Sendable (@escaping @Sendable (PreviewEvent) -> Void) throws -> any PreviewSink
    ) {
        self.run = run
        self.takeStill = takeStill
        self.previewIdle = previewIdle
        self.devices = devices
        self.openPreview = openPreview
    }
}
