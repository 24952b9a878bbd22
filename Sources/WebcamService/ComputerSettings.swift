import Controls
import Media

/// What the computer's dialogue has moved, or somebody at the camera for it, each control's last: it takes that to hold for every
/// opening of the camera.
package struct ComputerSettings {
    /// A slider that is moved asks for dozens of values a second; each costs the camera something, and an event.
    private static let interval = Duration.milliseconds(200)

    private var wished = WishedControls()
    /// Those that the camera was not asked for yet.
    private var waiting = WishedControls()
    private var lastTime: MediaTimestamp?

    package var all: [ControlChange] { wished.changes }

    package mutating func add(_ change: ControlChange) {
        wished.take([change])
        waiting.take([change])
    }

    /// Somebody at the camera has set them, and the camera has that already.
    package mutating func hold(_ changes: [ControlChange]) { wished.take(changes) }

    /// What holds of these controls.
    package func held(of names: [ControlName]) -> [ControlChange] { all.filter { names.contains($0.name) } }

    /// Somebody at the camera has set other values since; what the computer has moved again meanwhile stays.
    /// - Parameter former: what held before.
    package mutating func forget(_ former: [ControlChange]) {
        wished.forget(former.filter { wished[$0.name] == $0.value }.map(\.name))
    }

    /// When `takeWaiting` has something to give.
    package var deadline: MediaTimestamp? {
        waiting.changes.isEmpty ? nil : lastTime.map { $0 + Self.interval } ?? .zero
    }

    package mutating func takeWaiting(now: MediaTimestamp) -> [ControlChange] {
        guard let deadline, deadline <= now else { return [] }
        lastTime = now
        return takeAllWaiting()
    }

    /// Without regard to how soon that is.
    package mutating func takeAllWaiting() -> [ControlChange] {
        defer { waiting = WishedControls() }
        return waiting.changes
    }
}
