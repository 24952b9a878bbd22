/// The files that describe a device, its network and its stream; the raw value is the file's name on the card.
public enum DescriptionKind: String, CaseIterable, Sendable {
    case stream = "stream.json"
    case device = "device.json"
    case network = "network.json"
    case board = "board.json"

    /// - Returns: `nil` for a name that no such file has. Letter case does not count, as on the card's file system.
    public init?(fileName: String) { self.init(rawValue: fileName.lowercased()) }

    /// Recognizes a file by the keys of its object: the kind that knows the most of them. Of several kinds that know
    /// equally many, the one that finds the fewest faults.
    /// - Returns: `nil` when no kind knows any of them.
    public init?(recognizing json: JSONValue, vocabulary: DeviceVocabulary) {
        let names = Set((json.members ?? []).map(\.name))
        let ranked = Self.allCases.map { kind in
            (kind, known: names.intersection(kind.keyNames(vocabulary)).count)
        }
        guard let most = ranked.map(\.known).max(), most > 0 else { return nil }
        let candidates = ranked.filter { $0.known == most }.map { kind, _ in
            (kind, faults: kind.faults(of: json, vocabulary: vocabulary).count)
        }
        guard let best = candidates.min(by: { $0.faults < $1.faults }) else { return nil }
        self = best.0
    }

    /// A whole file that is right.
    public var example: String {
        switch self {
        case .stream: StreamDescription.example
        case .device: DeviceDescription.example
        case .network: NetworkDescription.example
        case .board: BoardDescription.example
        }
    }

    /// Everything that is wrong in a file of this kind, in its order.
    public func faults(of json: JSONValue, vocabulary: DeviceVocabulary) -> [DescriptionFault] {
        switch self {
        case .stream: StreamDescription.decode(json).faults
        case .device: DeviceDescription.decode(json, vocabulary: vocabulary).faults
        case .network: NetworkDescription.decode(json).faults
        case .board: BoardDescription.decode(json).faults
        }
    }

    /// The keys of the outermost object.
    private func keyNames(_ vocabulary: DeviceVocabulary) -> [String] {
        let empty = JSONValue(.object([]))
        return switch self {
        // Which ones are read depends on what is there.
        case .stream: PlainStreamDescription.keyNames + PiliStreamDescription.keyNames
        case .device: DeviceDescription.decode(empty, vocabulary: vocabulary).keys.rootNames
        case .network: NetworkDescription.decode(empty).keys.rootNames
        case .board: BoardDescription.decode(empty).keys.rootNames
        }
    }
}
