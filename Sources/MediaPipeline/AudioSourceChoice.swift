import DevicePorts
import LinuxIO
import SyntheticSources

/// Where audio comes from.
public protocol AudioSourceChoice: Sendable {
    /// No audio at all.
    var isNone: Bool { get }
    /// Whether it gives audio at the rate that is asked for; that of a file or pipe is what it is.
    var takesSampleRate: Bool { get }
    var readsStandardInput: Bool { get }
    /// Gain and mute of each source that has them, in their order, before they are opened, while they are, and when they are
    /// opened again.
    var microphones: [MicrophoneControl] { get }

    /// As `VideoSourceChoice.open`.
    /// - Parameter notify: gets the loss and the return of a device, and the end of one of several sources.
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
