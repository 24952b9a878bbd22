import Media

/// Waits until a camera says that it did what it was asked for: a sensor takes some frames for it, a lens a second.
public struct ControlConfirmation: Sendable {
    /// What the frames that are on their way already say is of before.
    static let settling = Duration.milliseconds(250)
    /// A camera that has said nothing by now says nothing.
    static let silence = Duration.milliseconds(500)
    /// From then on it is reported what the camera says, whatever that is.
    static let patience = Duration.seconds(1)
    static let patienceWithFocus = Duration.seconds(3)

    public let changes: [ControlChange]
    private let start: MediaTimestamp
    private var patience: Duration {
        changes.contains { $0.name == .focus || $0.name == .focusPoint } ? Self.patienceWithFocus : Self.patience
    }

    public init(_ changes: [ControlChange], at start: MediaTimestamp) {
        self.changes = changes
        self.start = start
    }

    /// - Returns: each control with what the camera says of it; `nil` while it may still follow.
    public func readings(by report: CameraReport, now: MediaTimestamp) -> [ControlReading]? {
        let age = now - start
        let isDone = age >= Self.settling && changes.allSatisfy { report.shows($0) ?? (age >= Self.silence) }
        guard isDone || age >= patience else { return nil }
        return changes.map { ControlReading($0.name, $0.value, reported: report.text(of: $0.name)) }
    }
}
