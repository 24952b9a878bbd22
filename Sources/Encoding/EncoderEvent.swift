import Media
import StreamLogic

/// A report of a video encoder while a stream is live.
public enum EncoderEvent: Sendable {
    /// Hardware failed, or works again.
    case changed(StreamEvent)
    /// For people, about an encoder that continues.
    case note(String)
    /// It refused a setting and keeps the previous one.
    case settingRefused(String)
    /// It cannot encode the requested size and keeps the previous one.
    case sizeRefused(String, keeping: FrameSize)
    /// The hardware, opened for a restarted stream, cannot encode this size.
    case sizeNotOpened(String, FrameSize)
    /// The first frame of another camera was encoded.
    /// - Parameter after: time since the request.
    case cameraSwitched(to: String, after: Duration)
}
