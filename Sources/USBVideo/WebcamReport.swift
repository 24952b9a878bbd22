import Controls

/// What the webcam reports to the rest of the device.
public enum WebcamReport: Hashable, Sendable {
    case event(WebcamEvent)
    /// The computer's dialogue moves a control.
    case change(ControlChange)
    /// Whether a program there records.
    case recorded(Bool)
    /// The gadget is gone, and another one can be made.
    case ended
}

/// What has become of the camera as a computer's webcam, which the stream does not depend on.
public enum WebcamEvent: Hashable, Sendable {
    case changed(WebcamState)
    /// The computer takes no frames although it wanted some: it sleeps, or its cable was pulled unseen; or it takes some again.
    case stalled(Bool)
    /// It is no webcam. It is tried again until it is.
    case failed(reason: String)
    /// The computer gets frames, and no audio. It is tried again.
    case microphoneFailed(reason: String)
    /// It lacks something else, and goes on.
    case impaired(reason: String)
}

extension WebcamEvent {
    /// For people.
    public var text: String {
        switch self {
        case .changed(let state): "webcam: \(state)"
        case .stalled(let isStalled):
            isStalled ? "webcam: the computer takes no frames" : "webcam: the computer takes frames again"
        case .failed(let reason): "no webcam: \(reason)"
        case .microphoneFailed(let reason): "webcam: no audio for the computer: \(reason)"
        case .impaired(let reason): "webcam: \(reason)"
        }
    }
}
