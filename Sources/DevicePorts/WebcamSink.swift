import Controls
import Media

/// The camera as a computer's webcam. It accepts frames and audio only while a program there uses them. Thread-safe.
public protocol WebcamSink: FrameSink, AudioSink {
    /// The camera's controls and their values, for the computer's dialog.
    func controlsChanged(_ statuses: [ControlStatus])

    /// A person at the camera allows the computer to receive frames, until it is unplugged.
    func allow()

    /// Starts to remove the webcam; the report `ended` follows when it is gone. Never waits. Without this call it is
    /// removed when its last reference is released.
    func end()

    /// Counted since it was created.
    var statistics: WebcamStatistics { get }
}
