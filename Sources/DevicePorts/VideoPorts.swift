import Media

/// Gives raw pictures, one at a time, on the thread that asks.
public protocol VideoSource: AnyObject {
    /// The layout of every picture that the source gives.
    var layout: FrameLayout { get }
    var frameRate: FrameRate { get }

    /// Waits for the next picture. Whoever made the source can end the wait from another thread.
    /// - Returns: `nil` when the source has ended or was told to stop.
    /// - Throws: the source's typed error; no more pictures come after it.
    func nextFrame() throws -> CapturedFrame?

    /// How the source ended by itself, for people; `nil` before that, and after a stop.
    var endingNote: String? { get }

    /// What has become of the pictures so far.
    var statistics: VideoSourceStatistics { get }
}

extension VideoSource {
    public var statistics: VideoSourceStatistics { VideoSourceStatistics() }
}

/// What has become of a source's pictures, counted from its begin.
public struct VideoSourceStatistics: Hashable, Sendable {
    /// Pictures that the device gave.
    public var capturedFrames = 0
    /// Pictures that the device lost before they could be taken, or marked as broken.
    public var droppedFrames = 0
    /// Pictures that were given again because the device had no new one.
    public var repeatedFrames = 0
    /// Pictures that the source had to decode: compressed ones, and formats that libyuv does not read.
    public var decodedFrames = 0
    /// Pictures that the processor turned or mirrored.
    public var turnedFrames = 0
    /// Pictures whose samples the processor looked at in the device's memory.
    public var mappedFrames = 0
    /// How often the device was lost.
    public var interruptions = 0

    public init() {}
}

/// Turns raw pictures into H.264. Used from one thread, the encoder thread.
public protocol VideoEncoder: AnyObject {
    /// Takes the frame and gives it back (releases it) when its samples were read.
    /// - Returns: the packets that came out, in decode order: none when the encoder
    ///   skipped the picture, a `videoHeader` first whenever it is new.
    func encode(_ frame: consuming CapturedFrame) throws -> [EncodedPacket]

    /// Waits, not for long, for the pictures that are still in the encoder. Nothing goes in after it.
    func finish() throws -> [EncodedPacket]

    /// Makes the next picture a key frame.
    func requestKeyFrame()

    /// Changes the target while running; the connection and the headers stay.
    func setBitrate(_ bitrate: Bitrate) throws

    /// Changes how many pictures come in per second, and how many of them lie from one key frame
    /// to the next; the connection and the headers stay.
    func setFrameRate(_ frameRate: FrameRate, keyFrameInterval: Int) throws

    /// Pictures that went in and, by the encoder's own decision, never came out.
    var skippedFrameCount: Int { get }

    /// Pictures that were scaled or converted on their way in.
    var convertedFrameCount: Int { get }

    /// Outputs that were marked as faulty, or held no picture.
    var faultCount: Int { get }
}

extension VideoEncoder {
    public var faultCount: Int { 0 }

    /// Encoders that answer at once have nothing left.
    public func finish() throws -> [EncodedPacket] { [] }
}
