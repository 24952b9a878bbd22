import Media

/// Provides raw frames, one at a time, on the calling thread.
public protocol VideoSource: FrameProvider {
    /// The camera's name from its driver; `nil` if the source is not a camera.
    var cameraModel: String? { get }

    /// The source's name for people, for messages about features that only cameras have: "the test pattern".
    var origin: String { get }

    /// Waits for the next frame. The source's creator can end the wait from another thread.
    /// - Returns: `nil` when the source has ended or was asked to stop.
    /// - Throws: the source's typed error; no more frames follow.
    func nextFrame() throws -> CapturedFrame?

    /// How the source ended on its own, for people; `nil` before that, and after a stop.
    var endingNote: String? { get }
}

extension VideoSource {
    public var memoryKind: FrameMemoryKind { .pooled }
    public var colors: VideoColors? { nil }
    public var cameraModel: String? { nil }
    public var origin: String { "this source" }
    public var statistics: VideoSourceStatistics { VideoSourceStatistics() }
}

/// Scales raw frames of one layout to another size. Used from one thread.
public protocol FrameScaler: AnyObject {
    /// Layout of its input frames.
    var source: FrameLayout { get }
    /// Layout of its output frames.
    var target: FrameLayout { get }
    /// Memory of its output frames.
    var memoryKind: FrameMemoryKind { get }
    /// Passes of the processor over each frame; zero if a device does the scaling.
    var passCount: Int { get }

    /// - Returns: a frame in the scaler's memory, which is free again when the frame is released; `nil` if all of its
    ///   memory is in use and the frame must be dropped.
    func scale(_ frame: CapturedFrame) throws -> CapturedFrame?
}

/// Encodes raw frames as H.264 at its own pace. Frames are submitted on the video thread; packets are passed to the
/// closure given at creation, on any thread.
public protocol VideoEncoder: AnyObject {
    /// Accepts a frame, or drops it if the encoder has no room. Does not wait for a device. The lease ends when the
    /// encoder has read the samples.
    func submit(_ frame: CapturedFrame) throws

    /// Waits, with a short limit, until the remaining frames have been output. No frame may be submitted afterwards.
    func finish() throws

    /// Makes the next frame a keyframe.
    func requestKeyframe()

    /// Changes the target bit rate during encoding; the connection and the headers stay.
    func setBitrate(_ bitrate: Bitrate) throws

    /// Encodes frames at another size, starting with a keyframe and a new header. Input frames stay the same and are
    /// scaled. The encoder decides how to switch, possibly with a few more frames of the old size.
    /// - Throws: if it cannot; it then continues unchanged.
    func resize(to configuration: VideoEncoderConfiguration) throws

    /// Changes the input frame rate and the keyframe interval in frames; the connection and the headers stay.
    func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws

    /// Prepares for the frames of another source, which will replace the present one. To be called again until it is
    /// ready.
    /// - Throws: if the encoder cannot continue at all.
    func prepare(for frames: SourceFrames) throws -> SourcePreparation

    /// The other source is no longer needed.
    func dropPreparation()

    /// The next frame is the first of this source, prepared or not. It becomes a keyframe, with a new header if
    /// necessary; the encoded size stays.
    func sourceChanges(to frames: SourceFrames) throws

    /// Frames inside the encoder. Submitted frames that are not here and were never output have been skipped.
    var pendingFrameCount: Int { get }

    /// The best size for the next input frames, among those that the source offers.
    var sourceSize: FrameSize { get }

    /// How often the processor scaled, converted or copied a whole frame on input.
    var conversionCount: Int { get }
}

/// Why an encoder cannot be used, or cannot continue.
public protocol EncoderFailure: Error {
    /// Whether a smaller frame may help.
    var isLackOfMemory: Bool { get }
    /// Whether it works, but not with frames of this size.
    var isRefusalOfSize: Bool { get }
    /// Whether reopening it later may help.
    var mayPassByItself: Bool { get }
    /// Whether unresponsive firmware may be the reason.
    var mayBeDeadFirmware: Bool { get }
    /// Whether closing and reopening it may help: a driver may keep a stale flag from a silent firmware, which the next
    /// close clears.
    var mayBeStale: Bool { get }
}

extension EncoderFailure {
    public var mayBeStale: Bool { false }
}

/// Receives an encoder's packets in decode order; each new `videoHeader` comes first. Called on any thread.
public typealias EncodedOutput = @Sendable ([EncodedPacket]) -> Void
