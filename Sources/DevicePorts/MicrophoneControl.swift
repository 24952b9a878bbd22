import Media
import Synchronization

/// Gain and mute of one microphone, which any thread can change during capture. The audio thread checks it before each
/// block and never waits: a change in progress takes effect one block later.
public final class MicrophoneControl: Sendable {
    /// The level and gain that a microphone has applied.
    public struct Applied: Hashable, Sendable {
        public let level: MicrophoneLevel
        public let gain: MicrophoneGain

        public init(_ level: MicrophoneLevel, gain: MicrophoneGain) {
            self.level = level
            self.gain = gain
        }
    }

    private struct State {
        var wanted: MicrophoneLevel
        var applied: Applied?
    }

    private let state: Mutex<State>

    public init(_ level: MicrophoneLevel = MicrophoneLevel()) { state = Mutex(State(wanted: level)) }

    public var wanted: MicrophoneLevel { state.withLock { $0.wanted } }

    /// The state since the last block, some 20 ms after a change; `nil` while the microphone is not open. A change has
    /// taken effect when the level equals `wanted`.
    public var applied: Applied? { state.withLock { $0.applied } }

    /// - Parameter decibels: limited to `MicrophoneLevel.gainRange`; NaN is ignored.
    public func setGain(_ decibels: Double) {
        guard !decibels.isNaN else { return }
        let range = MicrophoneLevel.gainRange
        state.withLock { $0.wanted.gain = min(max(decibels, range.lowerBound), range.upperBound) }
    }

    public func setMuted(_ isMuted: Bool) { state.withLock { $0.wanted.isMuted = isMuted } }

    /// For the microphone, before each block.
    /// - Parameter applied: the present state; `nil` before anything was applied.
    /// - Returns: the wanted level; `nil` while another thread holds the lock.
    public func exchange(_ applied: Applied?) -> MicrophoneLevel? {
        state.withLockIfAvailable { state in
            state.applied = applied
            return state.wanted
        }
    }

    /// For the microphone.
    public func closed() { state.withLock { $0.applied = nil } }
}
