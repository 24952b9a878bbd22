/// Where recordings are written.
public enum RecordingPlace: Hashable, Sendable {
    case folder(String)
    /// A disk that is mounted below `media`, in its folder `recordings`; without one, a folder on the card.
    case automatic(media: String, card: String)

    /// The folder of a mounted disk.
    public static func folder(onDisk path: String) -> String { "\(path)/recordings" }
}

/// What a recorder does from its next start on.
public struct RecordingPlan: Hashable, Sendable {
    public var place: RecordingPlace
    public var settings: RecordingSettings
    /// Whether video waits for audio of the same time, for a second at most.
    public var hasAudio: Bool

    public init(in place: RecordingPlace, _ settings: RecordingSettings = RecordingSettings(), hasAudio: Bool = true) {
        self.place = place
        self.settings = settings
        self.hasAudio = hasAudio
    }
}
