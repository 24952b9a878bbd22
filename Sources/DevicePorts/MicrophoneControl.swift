import Media
import Synchronization

/// Gain and mute of one microphone, for any thread to change while it captures. The audio thread looks before each block and
/// waits for nobody: a change that is being made at that moment counts from the block after.
public final class MicrophoneControl: Sendable {
    /// What a microphone has made of what was wanted.
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

    /// What holds since the last block, some 20 ms after a change; `nil` while the microphone is not open. A change has been made
    /// once its level is `wanted`.
    public var applied: Applied? { state.withLock { $0.applied } }

    /// - Parameter decibels: of `MicrophoneLevel.gainRange`; what is outside becomes its end, and what is no number is left out.
    public func setGain(_ decibels: Double) {
        guard !decibels.isNaN else { return }
        let range = MicrophoneLevel.gainRange
        state.withLock { $0.wanted.gain = min(max(decibels, range.lowerBound), range.upperBound) }
    }

    public func setMuted(_ isMuted: Bool) { state.withLock { $0.wanted.isMuted = isMuted } }

    /// For the microphone, before each block.
    /// - Parameter applied: what holds; `nil` when nothing was done yet.
    /// - Returns: what is wanted; `nil` while another thread is at it.
    public func exchange(_ applied: Applied?) -> MicrophoneLevel? {
        state.withLockIfAvailable { state in
            state.applied = applied
            return state.wanted
        }
    }

    /// For the microphone.
    public func closed() { state.withLock { $0.applied = nil } }
}
