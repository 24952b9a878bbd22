import Bitstream
import Media

/// When a file's tags are due: by their timestamps, from the first picture or sound on. What comes before that, and
/// headers and data between, are due at once, whatever their timestamps: recorders give them 0.
public struct PlaybackClock {
    private var begin: MediaTimestamp?
    private var lastTimestamp: UInt32 = 0
    private var milliseconds: Int64 = 0

    public init() {}

    /// From the first picture or sound to the tag read last.
    public var offset: Duration { .milliseconds(max(0, milliseconds)) }
    /// `nil` before the first picture or sound: at once.
    public var due: MediaTimestamp? { begin.map { $0 + offset } }

    public mutating func tagRead(_ tag: FLVTag, now: MediaTimestamp) {
        guard tag.kind != .script else { return }
        // Step by step, since timestamps wrap at 2^32 ms.
        let step = Int64(Int32(bitPattern: tag.timestamp &- lastTimestamp))
        // Most tags are a frame's time behind the one before: only the others are looked into.
        if begin == nil || abs(step) > 1000, tag.isSequenceHeader { return }
        lastTimestamp = tag.timestamp
        guard begin != nil else { return begin = now }
        milliseconds += step
    }
}
