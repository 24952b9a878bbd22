import Media

/// Which pictures are in the encoder, by their timestamps. Outputs come in the order of inputs: a picture that is
/// overtaken by a later one was skipped.
public struct PictureLedger: Sendable {
    private var pending: [MediaTimestamp] = []
    /// Pictures that never came out.
    public private(set) var skippedCount = 0

    public init() {}

    /// When the oldest picture without an answer was taken; drivers keep whole microseconds.
    public var isEmpty: Bool { pending.isEmpty }
    public var pendingCount: Int { pending.count }

    public mutating func pictureSubmitted(_ time: MediaTimestamp) { pending.append(Self.key(time)) }

    /// Whether this picture is in the encoder.
    public func expects(_ time: MediaTimestamp) -> Bool { pending.contains(Self.key(time)) }

    /// - Returns: whether this picture was still expected.
    public mutating func pictureReturned(_ time: MediaTimestamp) -> Bool {
        guard let index = pending.firstIndex(of: Self.key(time)) else { return false }
        skippedCount += index
        pending.removeFirst(index + 1)
        return true
    }

    /// The picture came back as an error, or as something that is no picture.
    public mutating func pictureLost(_ time: MediaTimestamp) {
        if pictureReturned(time) { skippedCount += 1 }
    }

    /// The encoder gives nothing any more.
    public mutating func encoderClosed() {
        skippedCount += pending.count
        pending = []
    }

    static func key(_ time: MediaTimestamp) -> MediaTimestamp {
        MediaTimestamp(nanoseconds: time.nanoseconds / 1000 * 1000)
    }
}
