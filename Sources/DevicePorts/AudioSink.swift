/// Something beside the stream that takes its source's audio. It never keeps the stream waiting. Any thread.
public protocol AudioSink: AnyObject, Sendable {
    /// Whether somebody would hear it: a stream that waits for its server reads the microphone for that.
    var wantsAudio: Bool { get }

    /// - Parameter format: of one or two channels.
    func offer(_ block: AudioBlock, format: AudioFormat)
}
