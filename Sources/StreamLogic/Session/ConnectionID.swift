/// Identifies one of a session's connections. Never reused.
public struct ConnectionID: Hashable, Sendable {
    public let number: Int

    init(number: Int) { self.number = number }
}

extension ConnectionID: CustomStringConvertible {
    public var description: String { "connection \(number)" }
}
