import Controls

/// What the webcam reports to the rest of the appliance.
public enum WebcamReport: Hashable, Sendable {
    case event(WebcamEvent)
    /// A dialog on the computer changed a control.
    case change(ControlChange)
    /// Whether a program on the computer is recording.
    case recorded(Bool)
    /// The gadget is gone, and a new one may be created.
    case ended
}

/// An event of the webcam. The stream does not depend on it.
public enum WebcamEvent: Hashable, Sendable {
    case changed(WebcamState)
    /// The computer stopped taking frames (true) or takes them again (false). It may be asleep, or its cable may have been
    /// pulled unnoticed.
    case stalled(Bool)
    /// Webcam mode is unavailable; it is retried until it works.
    case failed(reason: String)
    /// The computer gets video but no audio; the microphone is retried.
    case microphoneFailed(reason: String)
    /// Something else is missing; the webcam works without it.
    case impaired(reason: String)
}

extension WebcamEvent {
    /// For people.
    public var text: String {
        switch self {
        case .changed(let state): "webcam: \(state)"
        case .stalled(let isStalled):
            isStalled ? "webcam: the computer accepts no frames" : "webcam: the computer accepts frames again"
        case .failed(let reason): "no webcam: \(reason)"
        case .microphoneFailed(let reason): "webcam: no audio for the computer: \(reason)"
        case .impaired(let reason): "webcam: \(reason)"
        }
    }
}
