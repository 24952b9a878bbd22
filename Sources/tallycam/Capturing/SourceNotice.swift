/// A device was lost while the stream goes on, or has come back.
enum SourceNotice: Sendable {
    case interrupted(TrackReport.Track, source: String, reason: String)
    case returned(TrackReport.Track, source: String, after: Duration)
}
