import Bitstream

/// A file that a published stream is recorded to.
protocol StreamRecording: AnyObject {
    /// The path of the first file; a recording may continue in others.
    var path: String { get }
    func append(_ tag: FLVTag) throws
    /// Makes the file complete. Without this call, as after a crash, it can still be played.
    func finish() throws
}
