import Controls

/// What has become of a camera that is open for a screen and no stream; each thing once.
public enum IdleFramesEvent: Hashable, Sendable {
    /// It does not open, or is gone. It is tried again until it is there.
    case away(reason: String)
    /// One that was away gives frames.
    case returned
    /// What it has and is set to, when it was opened and after each change.
    case controls([ControlStatus])
}

/// What has become of a microphone that is open for a computer and no stream; each thing once.
public enum IdleAudioEvent: Hashable, Sendable {
    /// It does not open, or is gone. It is tried again until it is there.
    case away(reason: String)
    case returned
}

extension IdleAudioEvent {
    /// For people.
    public var text: String {
        switch self {
        case .away(let reason): "no microphone without a stream: \(reason)"
        case .returned: "the microphone is there again"
        }
    }
}

extension IdleFramesEvent {
    /// For people.
    public var text: String? {
        switch self {
        case .away(let reason): "no camera without a stream: \(reason)"
        case .returned: "the camera is there again"
        case .controls: nil
        }
    }
}
