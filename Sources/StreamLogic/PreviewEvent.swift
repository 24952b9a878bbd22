import Media

/// What has become of the preview, which the stream does not depend on.
public enum PreviewEvent: Hashable, Sendable {
    /// A display is lit.
    /// - Parameters:
    ///   - display: its connector and mode, for people.
    ///   - isConverted: the processor makes the frames for it, at a reduced rate.
    case lit(display: String, isConverted: Bool)
    /// There is none, or it cannot be used. It is tried again until it can.
    case dark(reason: String)
}

/// What has become of a camera that is open for a screen and no stream; each thing once.
public enum IdlePreviewEvent: Hashable, Sendable {
    /// It does not open, or is gone. It is tried again until it is there.
    case away(reason: String)
    /// One that was away gives frames.
    case returned
}

extension IdlePreviewEvent {
    /// For people.
    public var text: String {
        switch self {
        case .away(let reason): "no camera for the preview: \(reason)"
        case .returned: "the preview has its camera again"
        }
    }
}

extension PreviewEvent {
    var name: String {
        switch self {
        case .lit: "previewLit"
        case .dark: "previewDark"
        }
    }

    /// For people.
    public var text: String {
        switch self {
        case .lit(let display, let isConverted):
            "the preview is on \(display)" + (isConverted ? ", made by the processor" : "")
        case .dark(let reason): "no preview: \(reason)"
        }
    }

    var fields: [EventField] {
        switch self {
        case .lit(let display, let isConverted): [("display", .text(display)), ("converted", .flag(isConverted))]
        case .dark(let reason): [("reason", .text(reason))]
        }
    }
}
