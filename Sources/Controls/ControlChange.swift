/// One control with the value that it is to have.
public struct ControlChange: Hashable, Sendable {
    public let name: ControlName
    public let value: ControlValue

    public init(_ name: ControlName, _ value: ControlValue) {
        self.name = name
        self.value = value
    }

    /// - Parameters:
    ///   - name: in any case of letters.
    ///   - value: as people write it. Whether a camera takes it, its `ControlOffer` says.
    /// - Returns: `nil` for no name of a control.
    /// - Throws: `unusableValue`.
    public init?(_ name: String, _ value: String) throws(ControlError) {
        guard let name = ControlName(rawValue: name.lowercased()) else { return nil }
        self.init(name, try ControlValue(value, of: .of(name)))
    }
}

extension ControlChange: CustomStringConvertible {
    public var description: String { "\(name) \(value)" }
}
