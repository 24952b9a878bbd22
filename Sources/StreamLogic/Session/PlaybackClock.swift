import Bitstream
import Media

/// When a file's tags are due: by their timestamps, from the first frame or audio packet on. Earlier tags, headers and
/// data are due at once, whatever their timestamps: recorders set them to 0.
public struct PlaybackClock {
    private var start: MediaTimestamp?
    private var lastTimestamp: UInt32 = 0
    private var milliseconds: Int64 = 0

    public init() {}

    /// Time from the first frame or audio packet to the last tag read.
    public var offset: Duration { .milliseconds(max(0, milliseconds)) }
    /// `nil` before the first frame or audio packet: due at once. Runs for every tag, so without `Duration`, whose arithmetic has
    /// 128 bits.
    public var due: MediaTimestamp? {
        start.map { MediaTimestamp(nanoseconds: $0.nanoseconds &+ max(0, milliseconds) &* 1_000_000) }
    }

    /// - Parameter now: evaluated at the first frame or audio packet.
    public mutating func tagRead(_ tag: FLVTag, now: @autoclosure () -> MediaTimestamp) {
        guard tag.kind != .script else { return }
        // In steps, since timestamps wrap at 2^32 ms.
        let step = Int64(Int32(bitPattern: tag.timestamp &- lastTimestamp))
        // Most tags follow the previous one by a frame's duration; only the others need a closer look.
        if start == nil || abs(step) > 1000, tag.isSequenceHeader { return }
        lastTimestamp = tag.timestamp
        guard start != nil else { return start = now() }
        milliseconds += step
    }
}
