import Media

/// The frames inside the encoder, by timestamp. Outputs come in input order, so a frame overtaken by a later one was skipped.
struct InFlightFrames: Sendable {
    private var pending: [MediaTimestamp] = []

    var count: Int { pending.count }

    mutating func frameSubmitted(_ time: MediaTimestamp) { pending.append(Self.key(time)) }

    /// Whether this frame is in the encoder.
    func expects(_ time: MediaTimestamp) -> Bool { pending.contains(Self.key(time)) }

    /// Reports that a frame came out, intact or not.
    /// - Returns: whether it was expected.
    @discardableResult
    mutating func frameReturned(_ time: MediaTimestamp) -> Bool {
        guard let index = pending.firstIndex(of: Self.key(time)) else { return false }
        pending.removeFirst(index + 1)
        return true
    }

    /// Reports that the encoder delivers nothing more.
    mutating func encoderStopped() { pending = [] }

    /// Drivers keep only whole microseconds.
    private static func key(_ time: MediaTimestamp) -> MediaTimestamp {
        MediaTimestamp(nanoseconds: time.nanoseconds / 1000 * 1000)
    }
}
