import Media

/// Gives raw frames, one at a time, on the thread that asks.
public protocol VideoSource: FrameProvider {
    /// Of the camera that takes the frames, as its driver names it; `nil` where there is none.
    var cameraModel: String? { get }

    /// What gives the frames, for people who ask it for what only a camera has: "the test pattern".
    var origin: String { get }

    /// Waits for the next frame. Whoever made the source can end the wait from another thread.
    /// - Returns: `nil` when the source has ended or was asked to stop.
    /// - Throws: the source's typed error; no more frames come after it.
    func nextFrame() throws -> CapturedFrame?

    /// How the source ended by itself, for people; `nil` before that, and after a stop.
    var endingNote: String? { get }
}

extension VideoSource {
    public var memoryKind: FrameMemoryKind { .pooled }
    public var colors: VideoColors? { nil }
    public var cameraModel: String? { nil }
    public var origin: String { "this source" }
    public var statistics: VideoSourceStatistics { VideoSourceStatistics() }
}

/// Brings raw frames of one layout to another size. Used from one thread.
public protocol FrameScaler: AnyObject {
    /// Of the frames that it takes.
    var source: FrameLayout { get }
    /// Of the frames that it gives.
    var target: FrameLayout { get }
    /// Of the frames that it gives.
    var memoryKind: FrameMemoryKind { get }
    /// How often the processor goes through a frame for it: never where a device scales.
    var passCount: Int { get }

    /// - Returns: a frame in memory of the scaler, which is free again when nobody holds it any more; `nil` when all of that
    ///   is held, and the frame is to be left out.
    func scale(_ frame: CapturedFrame) throws -> CapturedFrame?
}

/// Turns raw frames into H.264 at its own pace: frames go in on one thread, the video thread, and packets come out by the
/// closure that the encoder was made with, on whatever thread has them.
public protocol VideoEncoder: AnyObject {
    /// Takes a frame, or leaves it out when the encoder has no room for it. Does not wait for a device. The lease ends
    /// when the encoder has read the samples.
    func submit(_ frame: CapturedFrame) throws

    /// Waits, not for long, until the frames that are still in the encoder have come out. Nothing goes in after it.
    func finish() throws

    /// Makes the next frame a keyframe.
    func requestKeyframe()

    /// Changes the target while running; the connection and the headers stay.
    func setBitrate(_ bitrate: Bitrate) throws

    /// Encodes frames of another size from a keyframe on, which comes with a header of its own; frames go in as before and are
    /// scaled. What it takes, a moment of the old size included, is the encoder's business.
    /// - Throws: when it cannot; it goes on as it is.
    func resize(to configuration: VideoEncoderConfiguration) throws

    /// Changes how many frames come in per second, and how many of them lie from one keyframe
    /// to the next; the connection and the headers stay.
    func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws

    /// Gets ready for frames of another source, which follow those of the present one; asked again until it is.
    /// - Throws: when the encoder cannot go on at all.
    func prepare(for frames: SourceFrames) throws -> SourcePreparation

    /// The other source is not wanted any more.
    func dropPreparation()

    /// The next frame is the first of this source, prepared for or not. It becomes a keyframe, with a header of its own if
    /// need be; the size that is encoded stays.
    func sourceChanges(to frames: SourceFrames) throws

    /// Frames that are in the encoder. What went in, is not here and never came out was left out.
    var pendingFrameCount: Int { get }

    /// The size in which it takes the next frames best, of those that the source gives.
    var sourceSize: FrameSize { get }

    /// How often the processor went through a whole frame on its way in: to scale, convert or copy it.
    var conversionCount: Int { get }
}

/// Why an encoder cannot be used, or cannot go on.
public protocol EncoderFailure: Error {
    /// Whether a smaller frame may help.
    var isLackOfMemory: Bool { get }
    /// Whether it encodes, but no frames of this size.
    var isRefusalOfSize: Bool { get }
    /// Whether opening it again in a moment may help.
    var mayPassByItself: Bool { get }
    /// Whether firmware that answers nothing may be the reason.
    var mayBeDeadFirmware: Bool { get }
    /// Whether closing what has opened, and opening it once more, may help: a driver may keep a stale flag from a
    /// firmware that was silent, and clears it at the next close.
    var mayBeStale: Bool { get }
}

extension EncoderFailure {
    public var mayBeStale: Bool { false }
}

/// Takes an encoder's packets, in decode order: a `videoHeader` first whenever it is new. Any thread.
public typealias EncodedOutput = @Sendable ([EncodedPacket]) -> Void
