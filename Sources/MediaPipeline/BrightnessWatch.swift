import DevicePorts
import Media
import StreamLogic
import Synchronization

/// Tells how bright the frames of a stream are, while somebody wants to know.
final class BrightnessWatch: Sendable {
    /// Looking at a device's memory has its price, and light does not change by the frame.
    private static let frameInterval = 15

    private let isWanted = Atomic(false)
    private let frames = Atomic(0)

    /// Any thread.
    func want(_ isWanted: Bool) { self.isWanted.store(isWanted, ordering: .relaxed) }

    /// On the video thread, with each frame.
    /// - Returns: `nil` for most of them.
    func look(at frame: CapturedFrame, from source: any VideoSource) -> Brightness? {
        guard isWanted.load(ordering: .relaxed) else { return nil }
        let number = frames.add(1, ordering: .relaxed).newValue
        return number % Self.frameInterval == 1 ? Brightness(of: frame, from: source) : nil
    }
}
