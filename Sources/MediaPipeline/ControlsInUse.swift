import Controls
import Synchronization

/// The active camera's controls, as the video thread last saw them. Any thread.
public final class ControlsInUse: Sendable {
    public struct State: Sendable {
        public var offers: [ControlOffer]
        public var wished = WishedControls()
        public var report = CameraReport()
    }

    private let content = Mutex(State(offers: .allMissing("the stream has no camera")))

    public init() {}

    public var state: State { content.withLock { $0 } }

    func update(_ state: State) { content.withLock { $0 = state } }
}
