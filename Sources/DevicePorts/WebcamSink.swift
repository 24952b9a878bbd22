import Controls
import Media

/// The camera as a computer's webcam. It takes frames and audio only while a program there looks. Any thread.
public protocol WebcamSink: FrameSink, AudioSink {
    /// What the camera has and is set to, for the computer's dialogue.
    func controlsChanged(_ statuses: [ControlStatus])

    /// Somebody at the camera agrees that the computer gets frames, until it is unplugged.
    func allow()

    /// Starts to take it down; the report `ended` follows when it is gone. Never waits. Without this call it is taken down when
    /// nobody has it any more.
    func end()

    /// Counted since it was made.
    var statistics: WebcamStatistics { get }
}
