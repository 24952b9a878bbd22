import Controls
import Media

/// The latest value of each control that the computer's dialog has set, or that someone at the camera has set for it. The
/// computer assumes that these values persist each time the camera is opened.
package struct ComputerSettings {
    /// A moving slider sends dozens of values per second. Each costs the camera some work and an event.
    private static let interval = Duration.milliseconds(200)

    private var wished = WishedControls()
    /// Values not yet passed to the camera.
    private var waiting = WishedControls()
    private var lastTime: MediaTimestamp?

    package var all: [ControlChange] { wished.changes }

    package mutating func add(_ change: ControlChange) {
        wished.take([change])
        waiting.take([change])
    }

    /// Someone at the camera has set these, and the camera already has them.
    package mutating func hold(_ changes: [ControlChange]) { wished.take(changes) }

    /// The values to restore for these controls.
    package func held(of names: [ControlName]) -> [ControlChange] { all.filter { names.contains($0.name) } }

    /// Someone at the camera has set other values since. Values that the computer has changed again meanwhile stay.
    /// - Parameter former: the earlier values.
    package mutating func forget(_ former: [ControlChange]) {
        wished.forget(former.filter { wished[$0.name] == $0.value }.map(\.name))
    }

    /// When `takeWaiting` will return something.
    package var deadline: MediaTimestamp? {
        waiting.changes.isEmpty ? nil : lastTime.map { $0 + Self.interval } ?? .zero
    }

    package mutating func takeWaiting(now: MediaTimestamp) -> [ControlChange] {
        guard let deadline, deadline <= now else { return [] }
        lastTime = now
        return takeAllWaiting()
    }

    /// Ignores the minimum interval.
    package mutating func takeAllWaiting() -> [ControlChange] {
        defer { waiting = WishedControls() }
        return waiting.changes
    }
}
