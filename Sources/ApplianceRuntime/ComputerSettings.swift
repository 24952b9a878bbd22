import Controls
import Media

/// What the computer's dialogue has moved, each control's last: it takes that to hold for every opening of the camera.
struct ComputerSettings {
    /// A slider that is moved asks for dozens of values a second; each costs the camera something, and an event.
    private static let interval = Duration.milliseconds(200)

    private var wished = WishedControls()
    /// Those that the camera was not asked for yet.
    private var waiting = WishedControls()
    private var lastTime: MediaTimestamp?

    var all: [ControlChange] { wished.changes }

    mutating func add(_ change: ControlChange) {
        wished.take([change])
        waiting.take([change])
    }

    /// Somebody at the camera has set them since.
    mutating func forget(_ names: [ControlName]) {
        wished.forget(names)
        waiting.forget(names)
    }

    /// When `takeWaiting` has something to give.
    var deadline: MediaTimestamp? {
        waiting.changes.isEmpty ? nil : lastTime.map { $0 + Self.interval } ?? .zero
    }

    mutating func takeWaiting(now: MediaTimestamp) -> [ControlChange] {
        guard let deadline, deadline <= now else { return [] }
        defer { waiting = WishedControls() }
        lastTime = now
        return waiting.changes
    }
}
