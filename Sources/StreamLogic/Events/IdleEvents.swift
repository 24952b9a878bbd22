import Controls

/// Changes of a camera that is open for a screen without a stream. Each change is reported once.
public enum IdleFramesEvent: Hashable, Sendable {
    /// The camera cannot be opened or was lost. It is retried until it works.
    case away(reason: String)
    /// A lost camera delivers frames again.
    case returned
    /// The camera's controls, when it was opened and after each change.
    case controls([ControlStatus])
}

/// Changes of a microphone that is open for a computer without a stream. Each change is reported once.
public enum IdleAudioEvent: Hashable, Sendable {
    /// The microphone cannot be opened or was lost. It is retried until it works.
    case away(reason: String)
    case returned
}

extension IdleAudioEvent {
    /// For people.
    public var text: String {
        switch self {
        case .away(let reason): "microphone unavailable while idle: \(reason)"
        case .returned: "the microphone is available again"
        }
    }
}

extension IdleFramesEvent {
    /// For people.
    public var text: String? {
        switch self {
        case .away(let reason): "camera unavailable while idle: \(reason)"
        case .returned: "the camera is available again"
        case .controls: nil
        }
    }
}
