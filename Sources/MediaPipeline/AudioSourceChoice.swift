import DevicePorts
import LinuxIO
import SyntheticSources

/// A choice of an audio source.
public protocol AudioSourceChoice: Sendable {
    /// No audio.
    var isNone: Bool { get }
    /// Whether it delivers the requested sample rate; a file or pipe has its own.
    var takesSampleRate: Bool { get }
    var readsStandardInput: Bool { get }
    /// Gain and mute of each source that has them, in order. They apply before, during and after each opening of the sources.
    var microphones: [MicrophoneControl] { get }

    /// See `VideoSourceChoice.open`.
    /// - Parameter notify: receives the loss and return of a device, and the end of one of several sources.
    func open(
        sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (AudioEvent) -> Void
    ) throws -> (any AudioSource)?
}

extension AudioSourceDescription: AudioSourceChoice {
    public var isNone: Bool { self == .none }
    public var takesSampleRate: Bool { if case .raw = self { false } else { true } }
    public var readsStandardInput: Bool { if case .raw("-", _, _) = self { true } else { false } }
    public var microphones: [MicrophoneControl] { [] }

    public func open(
        sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (AudioEvent) -> Void
    ) throws -> (any AudioSource)? { try open(sampleRate: sampleRate, stop: stop) }
}
