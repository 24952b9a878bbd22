import Media

/// Why a control was not changed. Other changes of the same request are not applied either.
public enum ControlError: Error, Hashable, Sendable {
    /// - Parameter rule: the valid values, for people.
    case unusableValue(ControlName, value: String, rule: String)
    /// - Parameters:
    ///   - reason: why this camera lacks it.
    ///   - offered: the controls that it has instead.
    case missing(ControlName, reason: String, offered: [ControlName])
    /// The device refused the change.
    /// - Parameter reason: call and errno, for people.
    case refused(ControlName, reason: String)

    /// The control that was not changed.
    public var control: ControlName {
        switch self {
        case .unusableValue(let name, _, _), .missing(let name, _, _), .refused(let name, _): name
        }
    }
}

extension ControlError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unusableValue(let name, let value, let rule): "\(name) must be \(rule), not \(quoted(value.prefix(60)))"
        case .missing(let name, let reason, let offered):
            "\(name) is unavailable: \(reason); available: "
                + (offered.isEmpty ? "none" : offered.map(\.rawValue).joined(separator: ", "))
        case .refused(let name, let reason): "\(name) is refused: \(reason)"
        }
    }
}
