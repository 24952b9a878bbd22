import Controls
import Encoding
import FrameFiltering
import Media
import StreamLogic

/// Reports of the video, encoder and audio threads to the thread `stream`.
public enum TrackEvent: Sendable {
    /// The track's last packet is in the hub. The note explains why the source ended by itself.
    case ended(StreamTrack, note: String?)
    case video(VideoEvent)
    case encoder(EncoderEvent)
    case audio(AudioEvent)
    case snapshot(SnapshotAnswer)
    case failed(StreamFailure)
}

/// Reports of the thread `video` about its source, its filters and the camera's controls.
public enum VideoEvent: Sendable {
    /// A device has started, was lost or has returned.
    case source(SourceEvent)
    /// The requested camera failed; the previous one stays.
    case cameraSwitchFailed(String, reason: String)
    case brightness(Brightness)
    /// The camera reports its values after a change.
    case controlled([ControlReading], ControlAsker?)
    /// The camera has refused a change.
    case controlRefused(ControlError, ControlAsker?)
    /// The files for another chain of filters were read, or one of them is unusable.
    case filtersLoaded(Result<LoadedFilters, FilteringError>, CommandID?)
    /// A filter was dropped to save CPU time or is back, or the image for pauses is unusable.
    case changed(StreamEvent)
    /// Filters leave the frames unchanged.
    case filtersFailed(reason: String)
}

/// Reports of audio sources.
public enum AudioEvent: Sendable {
    /// A device has started, was lost or has returned.
    case source(SourceEvent)
    /// A source has ended by itself, and the stream continues.
    case note(String)
}
