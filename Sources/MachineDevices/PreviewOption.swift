import DisplayOutput
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import Synchronization
import Terminal

/// The value of `--preview`: `drm`, or `drm:CONNECTOR`.
package struct PreviewOption: Sendable {
    /// The connector's kernel name; `nil` for the first one with a display.
    let connector: String?

    package init() { connector = nil }

    package init(parsing text: String) throws(CommandFailure) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.first == "drm", parts.last?.isEmpty == false else {
            throw .usage("--preview is drm or drm:CONNECTOR, as in drm:HDMI-A-1, not \(quoted(text.prefix(60)))")
        }
        connector = parts.count > 1 ? parts.last.map(String.init) : nil
    }
}

extension Display {
    package convenience init(_ option: PreviewOption, report: @escaping @Sendable (PreviewEvent) -> Void) throws {
        try self.init(
            connector: option.connector, makeScaler: { try SoftwareScaler(from: $0, to: $1) }, report: report)
    }
}

/// The text over the preview of `publish`: the stream's own status.
package final class PreviewWords: Sendable {
    private let display: Display
    private let page = Mutex(StreamPage())

    package init(on display: Display) { self.display = display }

    package func take(_ message: StreamMessage) {
        guard case .snapshot(let snapshot) = message else { return }
        let words = page.withLock { page in
            if let snapshot { page.update(snapshot) } else { page.end() }
            return page.page
        }
        display.show(words ?? ScreenPage(.idle, "not live"))
    }
}
