import Media

/// The controller's input, ten times a second. Counts start anywhere, only increase, and are never reset.
public struct StreamMeasurement: Hashable, Sendable {
    public var now: MediaTimestamp
    /// `SendBuffer.appendedByteCount`.
    public var appendedBytes: Int
    /// `SendBuffer.deliveredByteCount`.
    public var deliveredBytes: Int
    /// `SendBuffer.undeliveredByteCount`.
    public var undeliveredBytes: Int
    /// `SendBuffer.waitingByteCount`: the bytes that a discard can save.
    public var waitingBytes: Int
    /// `SendBuffer.deliveryDelay`.
    public var deliveryDelay: Duration
    /// `SendBuffer.level`.
    public var bufferLevel: SendBufferLevel
    /// Bytes of frames that the video encoder output.
    public var encodedVideoBytes: Int
    /// Frames that the video encoder output.
    public var encodedFrames: Int
    /// Frames that the video encoder skipped.
    public var skippedFrames: Int

    public init(
        now: MediaTimestamp, buffer: borrowing SendBuffer, encodedVideoBytes: Int, encodedFrames: Int,
        skippedFrames: Int
    ) {
        self.now = now
        appendedBytes = buffer.appendedByteCount
        deliveredBytes = buffer.deliveredByteCount
        undeliveredBytes = buffer.undeliveredByteCount
        waitingBytes = buffer.waitingByteCount
        deliveryDelay = buffer.deliveryDelay
        bufferLevel = buffer.level
        self.encodedVideoBytes = encodedVideoBytes
        self.encodedFrames = encodedFrames
        self.skippedFrames = skippedFrames
    }
}
