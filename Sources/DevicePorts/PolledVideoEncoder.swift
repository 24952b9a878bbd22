import Media

/// An encoder with its driver's interface: input and output are separate, and only the driver's calls can block or
/// hang. Called by `ThreadedEncoder` on one thread.
public protocol PolledVideoEncoder: AnyObject {
    /// Prepares the encoder and checks that it encodes at all, so that failures show when it is opened.
    func start() throws
    /// Readable when there are outputs, writable when inputs have been returned; `nil` for an encoder that answers at
    /// once.
    var fileDescriptor: Int32? { get }
    /// Whether it accepts a frame now.
    var hasRoom: Bool { get }
    /// The lease ends when the encoder has read the samples.
    func submit(_ frame: CapturedFrame) throws
    /// Collects what is ready: inputs to be released, outputs as packets in decode order.
    func collect() throws -> [EncodedPacket]
    /// No more input follows; `isDrained` becomes true when everything has been output.
    func startDraining()
    var isDrained: Bool { get }
    func requestKeyframe()
    func setBitrate(_ bitrate: Bitrate) throws
    func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws
    /// Frames inside the encoder, including skipped ones that no later frame has overtaken yet.
    var pendingFrameCount: Int { get }
    /// Frames that the processor copied on input.
    var conversionCount: Int { get }
    /// Outputs that were marked as faulty or contained no frame.
    var faultCount: Int { get }
    /// Notes for people since the last call.
    func takeNotes() -> [String]
}
