import Controls
import Media

/// What the computer's dialogue has moved, or somebody at the camera for it, each control's last: it takes that to hold for every
/// opening of the camera.
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

    /// Somebody at the camera has set them, and the camera has that already.
    mutating func hold(_ changes: [ControlChange]) { wished.take(changes) }

    /// What holds of these controls.
    func held(of names: [ControlName]) -> [ControlChange] { all.filter { names.contains($0.name) } }

    /// Somebody at the camera has set other values since; what the computer has moved again meanwhile stays.
    /// - Parameter former: what held before.
    mutating func forget(_ former: [ControlChange]) {
        wished.forget(former.filter { wished[$0.name] == $0.value }.map(\.name))
    }

    /// When `takeWaiting` has something to give.
    var deadline: MediaTimestamp? {
        waiting.changes.isEmpty ? nil : lastTime.map { $0 + Self.interval } ?? .zero
    }

    mutating func takeWaiting(now: MediaTimestamp) -> [ControlChange] {
        guard let deadline, deadline <= now else { return [] }
        lastTime = now
        return takeAllWaiting()
    }

    /// Without regard to how soon that is.
    mutating func takeAllWaiting() -> [ControlChange] {
        defer { waiting = WishedControls() }
        return waiting.changes
    }
}
