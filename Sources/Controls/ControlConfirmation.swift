import Media

/// Waits until a camera says that it did what it was asked for: a sensor takes some frames for it, a lens a second.
public struct ControlConfirmation: Sendable {
    /// What the frames that are on their way already say is of before.
    static let settling = Duration.milliseconds(250)
    /// A camera that has said nothing by now says nothing.
    static let silence = Duration.milliseconds(500)
    /// A lens that has not started to search by now finds it is right where it is.
    static let searchStart = Duration.seconds(1)
    /// From then on it is reported what the camera says, whatever that is.
    static let patience = Duration.seconds(1)
    static let patienceWithFocus = Duration.seconds(3)

    public let changes: [ControlChange]
    private let start: MediaTimestamp
    /// The lens was seen searching: what it found before does not count.
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

    /// - Returns: each control with what the camera says of it; `nil` while it may still follow.
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
