/// A consumer of the source's audio in addition to the stream. It never delays the stream. Thread-safe.
public protocol AudioSink: AnyObject, Sendable {
    /// Whether it needs audio. If so, a stream that waits for its server reads the microphone for it.
    var wantsAudio: Bool { get }

    /// - Parameter format: with one or two channels.
    func offer(_ block: AudioBlock, format: AudioFormat)
}
