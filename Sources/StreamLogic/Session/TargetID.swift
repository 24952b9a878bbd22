/// One of the servers that a stream goes to, in the order in which its settings name them.
public struct TargetID: Hashable, Sendable {
    /// From 0.
    public let number: Int

    public init(_ number: Int) { self.number = number }
}

extension TargetID: CustomStringConvertible {
    public var description: String { "target \(number + 1)" }
}
