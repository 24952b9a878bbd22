/// One of the connections that a session has had opened. Never used twice.
public struct ConnectionID: Hashable, Sendable {
    let number: Int

    init(number: Int) { self.number = number }
}

extension ConnectionID: CustomStringConvertible {
    public var description: String { "connection \(number)" }
}
