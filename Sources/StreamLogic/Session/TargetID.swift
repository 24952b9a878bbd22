/// One of a stream's servers, in the order of its settings.
public struct TargetID: Hashable, Sendable {
    /// From 0.
    public let number: Int

    public init(_ number: Int) { self.number = number }
}

extension TargetID: CustomStringConvertible {
    public var description: String { "target \(number + 1)" }
}
