import Bitstream
import Media

/// When a file's tags are due: by their timestamps, from the first frame or audio packet on. What comes before that, and
/// headers and data between, are due at once, whatever their timestamps: recorders give them 0.
public struct PlaybackClock {
    private var start: MediaTimestamp?
    private var lastTimestamp: UInt32 = 0
    private var milliseconds: Int64 = 0

    public init() {}

    /// From the first frame or audio packet to the tag read last.
    public var offset: Duration { .milliseconds(max(0, milliseconds)) }
    /// `nil` before the first frame or audio packet: at once.
    public var due: MediaTimestamp? { start.map { $0 + offset } }

    /// - Parameter now: asked for at the first frame or audio packet.
    public mutating func tagRead(_ tag: FLVTag, now: @autoclosure () -> MediaTimestamp) {
        guard tag.kind != .script else { return }
        // Step by step, since timestamps wrap at 2^32 ms.
        let step = Int64(Int32(bitPattern: tag.timestamp &- lastTimestamp))
        // Most tags are a frame's time behind the one before: only the others are looked into.
        if start == nil || abs(step) > 1000, tag.isSequenceHeader { return }
        lastTimestamp = tag.timestamp
        guard start != nil else { return start = now() }
        milliseconds += step
    }
}
