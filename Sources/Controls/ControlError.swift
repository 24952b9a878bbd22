import Media

/// Why a control is not changed; nothing that was asked for together with it is changed then.
public enum ControlError: Error, Hashable, Sendable {
    /// - Parameter rule: what the value has to be, for people.
    case unusableValue(ControlName, value: String, rule: String)
    /// - Parameters:
    ///   - reason: why this camera lacks it.
    ///   - offered: what it has instead.
    case missing(ControlName, reason: String, offered: [ControlName])
    /// The device refused it.
    /// - Parameter reason: call and errno, for people.
    case refused(ControlName, reason: String)

    /// That is not changed.
    public var control: ControlName {
        switch self {
        case .unusableValue(let name, _, _), .missing(let name, _, _), .refused(let name, _): name
        }
    }
}

extension ControlError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unusableValue(let name, let value, let rule): "\(name) is \(rule), not \(quoted(value.prefix(60)))"
        case .missing(let name, let reason, let offered):
            "\(name) is missing: \(reason); there is "
                + (offered.isEmpty ? "no other control" : offered.map(\.rawValue).joined(separator: ", "))
        case .refused(let name, let reason): "\(name) is refused: \(reason)"
        }
    }
}
