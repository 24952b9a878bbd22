/// Tracks which of the open microphones are lost, and so whether any of them can be heard.
public struct LostMicrophones: Hashable, Sendable {
    private let count: Int
    /// By microphone name.
    private var reasons: [String: String] = [:]

    /// - Parameter count: number of microphones; a source that is not a microphone counts as one.
    public init(of count: Int) { self.count = max(1, count) }

    public mutating func changed(_ event: SourceEvent) {
        switch event {
        case .interrupted(.audio, let source, let reason): reasons[source] = reason
        case .returned(.audio, let source, _): reasons[source] = nil
        case .started, .interrupted(.video, _, _), .returned(.video, _, _): break
        }
    }

    /// Why no microphone can be heard; `nil` while at least one works.
    public var problem: String? {
        reasons.count < count ? nil : Set(reasons.values).sorted().joined(separator: "; ")
    }
}
