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
