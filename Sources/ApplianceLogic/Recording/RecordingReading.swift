import RecordingLogic

/// The recording's state, for people and programs.
public struct RecordingReading: Hashable, Sendable {
    public var state = RecordingSession.State.off
    /// The file that is being written.
    public var file: String?
    /// Whether the disk is too slow right now: GOPs are missing.
    public var isDropping = false

    public init() {}

    /// Whether media is being recorded.
    public var isOn: Bool { state == .recording }
    /// Why nothing can be recorded.
    public var problem: String? { state.failure?.text }

    public var text: String {
        if let problem { return "no: \(problem)" }
        guard isOn else { return state == .off ? "off" : "starting" }
        return (file.map { "to \($0)" } ?? "from the next keyframe on") + (isDropping ? "; the disk is too slow" : "")
    }
}
