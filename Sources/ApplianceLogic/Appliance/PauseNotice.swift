/// The answer to a pause that the present stream cannot carry out, because it is interrupted.
public enum PauseNotice: Hashable, Sendable {
    /// Nothing changes.
    case already(Bool)
    /// The stream will return in this state.
    case forNextStream(Bool)
}

extension PauseNotice: CustomStringConvertible {
    public var description: String {
        switch self {
        case .already(true): "the stream is paused already"
        case .already(false): "the stream is not paused"
        case .forNextStream(true): "paused: the stream is interrupted and will return paused"
        case .forNextStream(false): "no longer paused: the stream is interrupted and will return with the camera"
        }
    }
}
