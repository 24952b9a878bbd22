import Media

/// Why a target stays as it is.
public enum TargetRefusal: Hashable, Sendable {
    case unknown(String, available: [String])
    case alreadyOn(String)
    case alreadyOff(String)
    /// It was switched off a moment ago.
    case stillEnding(String)
    /// Without it, the stream would end.
    case onlyOne(String)
    /// - Parameter limit: with the target that sets it.
    case tooHighBitrate(limit: String)
}

extension TargetRefusal {
    /// For programs; it never changes.
    var name: String {
        switch self {
        case .unknown: "unknownTarget"
        case .alreadyOn: "targetIsOn"
        case .alreadyOff: "targetIsOff"
        case .stillEnding: "targetIsEnding"
        case .onlyOne: "onlyTarget"
        case .tooHighBitrate: "targetLimit"
        }
    }
}

extension TargetRefusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(_, let names) where names.isEmpty: "stream.json lists no targets"
        case .unknown(let name, let names):
            "unknown target \(quoted(name.prefix(60)))\(NameSuggestion.question(for: name, among: names) ?? ";")"
                + " available: \(names.joined(separator: ", "))"
        case .alreadyOn(let name): "\(name) is already on"
        case .alreadyOff(let name): "\(name) is already off"
        case .stillEnding(let name): "\(name) is still ending; try again in a moment"
        case .onlyOne(let name): "\(name) is the only target that is on; stop the stream instead"
        case .tooHighBitrate(let limit): limit
        }
    }
}
