/// One of a stream's servers.
public struct TargetID: Hashable, Sendable {
    /// From 0, which is the one that the settings let lead.
    public let number: Int
    /// From the settings; `nil` for the only server of a stream. Texts and scripts then need no target.
    public let name: String?

    public init(_ number: Int, name: String? = nil) {
        self.number = number
        self.name = name
    }
}

extension TargetID: CustomStringConvertible {
    public var description: String { name ?? "target \(number + 1)" }
}
