import Media

/// Waits until a camera reports that it has applied the changes: a sensor takes a few frames, a lens a second.
public struct ControlConfirmation: Sendable {
    /// Frames already on their way still report the old values.
    static let settling = Duration.milliseconds(250)
    /// A camera that has reported nothing by now will not report anything.
    static let silence = Duration.milliseconds(500)
    /// A lens that has not started to search by now is already in focus.
    static let searchStart = Duration.seconds(1)
    /// After this time the camera's report is returned, whatever it says.
    static let patience = Duration.seconds(1)
    static let patienceWithFocus = Duration.seconds(3)

    public let changes: [ControlChange]
    private let start: MediaTimestamp
    /// The lens was seen searching: an earlier result does not count.
    private var hasSearched = false
    private var patience: Duration { movesLens ? Self.patienceWithFocus : Self.patience }

    private var movesLens: Bool {
        changes.contains { change in
            switch (change.name, change.value) {
            case (.focus, .word("auto")), (.focusPoint, .area): true
            default: false
            }
        }
    }

    public init(_ changes: [ControlChange], at start: MediaTimestamp) {
        self.changes = changes
        self.start = start
    }

    /// - Returns: each control with the camera's report; `nil` while waiting for it.
    public mutating func readings(by report: CameraReport, now: MediaTimestamp) -> [ControlReading]? {
        guard !report.isAway else {
            return changes.map { ControlReading($0.name, $0.value, reported: "when the camera is back") }
        }
        let age = now - start
        hasSearched = hasSearched || report.focusState == .scanning
        let isSearchOver = !movesLens || hasSearched || age >= Self.searchStart
        let isDone =
            age >= Self.settling && isSearchOver
            && changes.allSatisfy { report.shows($0) ?? (age >= Self.silence) }
        guard isDone || age >= patience else { return nil }
        return changes.map { ControlReading($0.name, $0.value, reported: report.text(of: $0.name)) }
    }
}
