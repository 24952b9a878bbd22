/// The files that describe a device, its network and its stream. The raw value is the file's name on the card.
public enum DescriptionKind: String, CaseIterable, Sendable {
    case stream = "stream.json"
    case device = "device.json"
    case network = "network.json"
    case board = "board.json"

    /// - Returns: `nil` if no such file has this name. Case-insensitive, like the card's file system.
    public init?(fileName: String) { self.init(rawValue: fileName.lowercased()) }

    /// Recognizes a file by the keys of its root object: the kind that knows most of them. If several kinds know
    /// equally many, the one with the fewest faults.
    /// - Returns: `nil` if no kind knows any of them.
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

    /// A complete correct file.
    public var example: String {
        switch self {
        case .stream: StreamDescription.example
        case .device: DeviceDescription.example
        case .network: NetworkDescription.example
        case .board: BoardDescription.example
        }
    }

    /// All faults of a file read as this kind, in file order.
    public func faults(of json: JSONValue, vocabulary: DeviceVocabulary) -> [DescriptionFault] {
        switch self {
        case .stream: StreamDescription.decode(json).faults
        case .device: DeviceDescription.decode(json, vocabulary: vocabulary).faults
        case .network: NetworkDescription.decode(json).faults
        case .board: BoardDescription.decode(json).faults
        }
    }

    /// The keys of the root object.
    private func keyNames(_ vocabulary: DeviceVocabulary) -> [String] {
        let empty = JSONValue(.object([]))
        return switch self {
        // The keys that are read depend on those present.
        case .stream: StreamDescription.keyNames
        case .device: DeviceDescription.decode(empty, vocabulary: vocabulary).keys.rootNames
        case .network: NetworkDescription.decode(empty).keys.rootNames
        case .board: BoardDescription.decode(empty).keys.rootNames
        }
    }
}
