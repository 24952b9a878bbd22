import Controls
import Encoding
import FrameFiltering
import Media
import StreamLogic

/// What the threads of encoders and audio report to the thread `stream`.
public enum TrackEvent: Sendable {
    /// The track's last packet is in the hub. A note when the source ended by itself.
    case ended(StreamTrack, note: String?)
    case video(VideoEvent)
    case encoder(EncoderEvent)
    case audio(AudioEvent)
    case snapshot(SnapshotAnswer)
    case failed(StreamFailure)
}

/// What the thread `video` reports of its source, its filters and the camera's controls.
public enum VideoEvent: Sendable {
    /// A device has started, was lost or has come back.
    case source(SourceEvent)
    /// The camera that was asked for does not come; the one before stays.
    case cameraSwitchFailed(String, reason: String)
    case brightness(Brightness)
    /// The camera says what it did.
    case controlled([ControlReading], CommandID?)
    /// The camera stays as it is.
    case controlRefused(ControlError, CommandID?)
    /// The files that another chain of filters needs were read, or one of them cannot be used.
    case filtersLoaded(Result<LoadedFilters, FilteringError>, CommandID?)
    /// A filter is left out for the processor's sake or is back, or the image for pauses cannot be used.
    case changed(StreamEvent)
    /// Filters leave the frames as they are.
    case filtersFailed(reason: String)
}

/// What sources of audio report.
public enum AudioEvent: Sendable {
    /// A device has started, was lost or has come back.
    case source(SourceEvent)
    /// A source has ended by itself, and the stream goes on.
    case note(String)
}
