import Media

/// One of several servers of a stream, at one moment.
public struct TargetReading: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        /// The stream goes on without it, because a person wants that.
        case off
        /// It failed and is retried.
        case failed(reason: String)
        case running(StreamState)
    }

    public let name: String
    /// Without stream name and query.
    public let destination: String
    public let state: State
    /// Whether the quality follows its link.
    public let isLeading: Bool
    /// Media that waits for its link.
    public let buffered: Duration
    public let sent: SentCounters
    /// Bytes of media that its server has acknowledged.
    public let deliveredBytes: Int

    public init(
        _ id: TargetID, destination: String, state: State, isLeading: Bool, buffered: Duration, sent: SentCounters,
        deliveredBytes: Int
    ) {
        name = "\(id)"
        self.destination = destination
        self.state = state
        self.isLeading = isLeading
        self.buffered = buffered
        self.sent = sent
        self.deliveredBytes = deliveredBytes
    }

    /// For people.
    public var text: String {
        let name = isLeading ? "\(name) (leading)" : name
        switch state {
        case .off: return "\(name) off"
        case .failed(let reason): return "\(name) failed, is retried: \(reason)"
        case .running(let state):
            return "\(name) \(state.rawValue), \(fixed(buffered.inSeconds, decimals: 2)) s buffered, "
                + "\(sent.sentFrames) frames sent, \(sent.droppedFrames) dropped"
        }
    }
}

extension TargetReading.State {
    /// For scripts.
    public var name: String {
        switch self {
        case .off: "off"
        case .failed: "failed"
        case .running(let state): state.rawValue
        }
    }
}
