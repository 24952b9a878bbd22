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

    /// How often the processor went through a whole picture on its way in: to scale, convert or copy it.
    var conversionCount: Int { get }

    /// Outputs that were marked as faulty, or held no picture.
    var faultCount: Int { get }
}

extension VideoEncoder {
    public var faultCount: Int { 0 }

    /// Encoders that answer at once have nothing left.
    public func finish() throws -> [EncodedPacket] { [] }
}
