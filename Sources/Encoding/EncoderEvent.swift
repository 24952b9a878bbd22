import Media
import StreamLogic

/// A report of a video encoder while a stream is live.
public enum EncoderEvent: Sendable {
    /// Hardware failed, or works again.
    case changed(StreamEvent)
    /// For people, about an encoder that continues.
    case note(String)
    /// It did not take a setting, and goes on with the one before.
    case settingRefused(String)
    /// It does not encode frames of the wanted size, and goes on with those before.
    case sizeRefused(String, keeping: FrameSize)
    /// The hardware, opened for a stream that starts again, does not encode frames of this size.
    case sizeNotOpened(String, FrameSize)
    /// The first frame of another camera was encoded.
    /// - Parameter after: since it was asked for.
    case cameraSwitched(to: String, after: Duration)
}
