public enum StreamTrack: String, Sendable {
    case video, audio
}

/// A device was lost while the stream goes on, or has come back.
public enum SourceNotice: Sendable {
    case interrupted(StreamTrack, source: String, reason: String)
    case returned(StreamTrack, source: String, after: Duration)
}
