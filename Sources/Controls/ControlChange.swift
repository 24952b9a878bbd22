/// A control with its requested value.
public struct ControlChange: Hashable, Sendable {
    public let name: ControlName
    public let value: ControlValue

    public init(_ name: ControlName, _ value: ControlValue) {
        self.name = name
        self.value = value
    }

    /// - Parameters:
    ///   - name: case-insensitive.
    ///   - value: as written by people. The camera's `ControlOffer` decides whether it is accepted.
    /// - Returns: `nil` if no control has this name.
    /// - Throws: `unusableValue`.
    public init?(_ name: String, _ value: String) throws(ControlError) {
        guard let name = ControlName(rawValue: name.lowercased()) else { return nil }
        self.init(name, try ControlValue(value, of: .of(name)))
    }
}

extension ControlChange: CustomStringConvertible {
    public var description: String { "\(name) \(value)" }
}
