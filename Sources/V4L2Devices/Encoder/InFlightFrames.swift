import Media

/// Which frames are in the encoder, by their timestamps. Outputs come in the order of inputs: a frame that is
/// overtaken by a later one was left out.
struct InFlightFrames: Sendable {
    private var pending: [MediaTimestamp] = []

    var count: Int { pending.count }

    mutating func frameSubmitted(_ time: MediaTimestamp) { pending.append(Self.key(time)) }

    /// Whether this frame is in the encoder.
    func expects(_ time: MediaTimestamp) -> Bool { pending.contains(Self.key(time)) }

    /// The frame came out, whole or not.
    /// - Returns: whether it was still expected.
    @discardableResult
    mutating func frameReturned(_ time: MediaTimestamp) -> Bool {
        guard let index = pending.firstIndex(of: Self.key(time)) else { return false }
        pending.removeFirst(index + 1)
        return true
    }

    /// The encoder gives nothing any more.
    mutating func encoderStopped() { pending = [] }

    /// Drivers keep whole microseconds.
    private static func key(_ time: MediaTimestamp) -> MediaTimestamp {
        MediaTimestamp(nanoseconds: time.nanoseconds / 1000 * 1000)
    }
}
