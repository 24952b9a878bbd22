import StreamLogic

/// The target whose state the device shows: the one that the stream's quality follows.
public struct LeadingTarget: Sendable {
    private var number = 0
    private var states: [Int: StreamState] = [:]

    public init() {}

    /// - Parameter target: `nil` for the stream as a whole, whose events count as the leading target's.
    public func isOrigin(of target: TargetID?) -> Bool { target.map { $0.number == number } ?? true }

    public mutating func stateChanged(of target: TargetID, to state: StreamState) { states[target.number] = state }

    /// Another target leads.
    /// - Returns: the state to show; `nil` until the target reports its next one.
    public mutating func changed(to target: TargetID) -> StreamState? {
        number = target.number
        return states[number] == .live ? .live : nil
    }
}
