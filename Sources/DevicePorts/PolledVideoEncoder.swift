import Media

/// An encoder as its driver has it: what goes in and what comes out are apart, and nothing waits but the driver's calls
/// themselves, which may hang. `ThreadedEncoder` is what calls it, on one thread.
public protocol PolledVideoEncoder: AnyObject {
    /// Makes the encoder ready, and makes sure that it encodes at all: what fails here fails at its opening.
    func start() throws
    /// Readable when there are outputs, writable when inputs have come back; `nil` for one that answers at once.
    var fileDescriptor: Int32? { get }
    /// Whether it takes a frame now.
    var hasRoom: Bool { get }
    /// The lease ends when the encoder has read the samples.
    func submit(_ frame: CapturedFrame) throws
    /// Takes what is ready: inputs to be released, outputs as packets in decode order.
    func collect() throws -> [EncodedPacket]
    /// Nothing goes in any more; `isDrained` when all has come out.
    func startDraining()
    var isDrained: Bool { get }
    func requestKeyframe()
    func setBitrate(_ bitrate: Bitrate) throws
    func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws
    /// Frames that are inside, those included that were left out and not overtaken yet.
    var pendingFrameCount: Int { get }
    /// Frames that the processor copied on their way in.
    var conversionCount: Int { get }
    /// Outputs that were marked as faulty, or held no frame.
    var faultCount: Int { get }
    /// What people should know since it was asked last.
    func takeNotes() -> [String]
}
