import Media

/// A packet that will never be sent.
public struct DroppedItem: Hashable, Sendable {
    public enum Reason: String, Sendable {
        /// `SendBufferLimits` were exceeded.
        case bufferFull
        /// A frame it refers to was dropped earlier.
        case awaitingKeyframe
        /// The controller chose to jump to live video.
        case discarded
        /// It waited for a connection that is gone.
        case newConnection
    }

    public let kind: EncodedPacket.Kind
    public let decodeTime: MediaTimestamp
    /// Payload size in bytes.
    public let byteCount: Int
    public let reason: Reason

    public init(kind: EncodedPacket.Kind, decodeTime: MediaTimestamp, byteCount: Int, reason: Reason) {
        self.kind = kind
        self.decodeTime = decodeTime
        self.byteCount = byteCount
        self.reason = reason
    }
}

/// An event of a `SendBuffer`. Each threshold crossing is reported once.
public enum SendBufferEvent: Hashable, Sendable {
    /// Nothing is waiting any more, here or in the kernel. Reported again only after media has queued up in between.
    case empty
    /// The buffer is full.
    case full
    /// The dropped packets, oldest first.
    case droppedItems([DroppedItem])
    /// The duration reached the high threshold.
    case roseAboveHigh
    /// The duration fell below the low threshold.
    case fellBelowLow
    /// The duration changed by at least a tenth of a second since it was last reported.
    case durationChanged(Duration)
    /// No frame is sent before the next keyframe: request one from the encoder now.
    case keyframeNeeded
}

/// Where the buffer's duration lies between its thresholds, with the events' hysteresis.
public enum SendBufferLevel: Hashable, Sendable {
    /// Since `fellBelowLow`, and at the start.
    case low
    case between
    /// Since `roseAboveHigh`.
    case high
}
