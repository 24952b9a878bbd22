import DevicePorts
import Media
import StreamLogic
import Synchronization

/// Measures how bright a stream's frames are while that is requested.
final class BrightnessWatch: Sendable {
    /// Reading device memory is expensive, and light does not change with every frame.
    private static let frameInterval = 15

    private let isWanted = Atomic(false)
    private let frames = Atomic(0)

    /// Any thread.
    func want(_ isWanted: Bool) { self.isWanted.store(isWanted, ordering: .relaxed) }

    /// Called on the video thread for each frame.
    /// - Returns: `nil` for most frames.
    func look(at frame: CapturedFrame, from source: any VideoSource) -> Brightness? {
        guard isWanted.load(ordering: .relaxed) else { return nil }
        let number = frames.add(1, ordering: .relaxed).newValue
        return number % Self.frameInterval == 1 ? Brightness(of: frame, from: source) : nil
    }
}
