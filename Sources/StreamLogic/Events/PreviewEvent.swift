/// A change of the preview, which never affects the stream.
public enum PreviewEvent: Hashable, Sendable {
    /// A display shows the preview.
    /// - Parameters:
    ///   - display: its connector and mode, for people.
    ///   - isConverted: the processor converts the frames, at a reduced rate.
    case lit(display: String, isConverted: Bool)
    /// There is no display, or it cannot be used. It is retried until it works.
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
            "the preview is on \(display)" + (isConverted ? ", converted by the processor" : "")
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
