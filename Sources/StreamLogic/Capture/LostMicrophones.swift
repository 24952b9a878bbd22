/// Which of the microphones that are open are away, and so whether any of them is heard.
public struct LostMicrophones: Hashable, Sendable {
    private let count: Int
    /// By their names.
    private var reasons: [String: String] = [:]

    /// - Parameter count: how many there are; a source that is no microphone counts as one.
    public init(of count: Int) { self.count = max(1, count) }

    public mutating func changed(_ event: SourceEvent) {
        switch event {
        case .interrupted(.audio, let source, let reason): reasons[source] = reason
        case .returned(.audio, let source, _): reasons[source] = nil
        case .started, .interrupted(.video, _, _), .returned(.video, _, _): break
        }
    }

    /// Why nothing is heard; `nil` while one of them is there.
    public var problem: String? {
        reasons.count < count ? nil : Set(reasons.values).sorted().joined(separator: "; ")
    }
}
