import Media

/// A packet that will never be sent.
public struct DroppedItem: Hashable, Sendable {
    public enum Reason: String, Sendable {
        /// More came than `SendBufferLimits` allow.
        case bufferFull
        /// A frame it refers to was dropped before.
        case awaitingKeyframe
        /// The controller chose to jump to live video.
        case discarded
        /// It waited for a connection that is gone.
        case newConnection
    }

    public let kind: EncodedPacket.Kind
    public let decodeTime: MediaTimestamp
    /// Bytes of its payload.
    public let byteCount: Int
    public let reason: Reason

    public init(kind: EncodedPacket.Kind, decodeTime: MediaTimestamp, byteCount: Int, reason: Reason) {
        self.kind = kind
        self.decodeTime = decodeTime
        self.byteCount = byteCount
        self.reason = reason
    }
}

/// What happened in a `SendBuffer`. Each threshold crossing is reported once.
public enum SendBufferEvent: Hashable, Sendable {
    /// Nothing waits any more, here or in the kernel. Reported again only after media piled up in between.
    case empty
    /// More came than may wait.
    case full
    /// Packets that were dropped, one by one, oldest first.
    case droppedItems([DroppedItem])
    /// A recording could not be written as fast as it came. Nothing more is taken in.
    case overflowed(byteCount: Int)
    /// The duration reached the high threshold.
    case roseAboveHigh
    /// The duration fell below the low threshold.
    case fellBelowLow
    /// The duration moved by a tenth of a second or more since it was last reported.
    case durationChanged(Duration)
    /// No frame goes out before the next keyframe: ask the encoder for one now.
    case keyframeNeeded
}

/// Where the buffer's duration lies between its thresholds, with the hysteresis of the events.
public enum SendBufferLevel: Hashable, Sendable {
    /// Since `fellBelowLow`, and at the start.
    case low
    case between
    /// Since `roseAboveHigh`.
    case high
}
