/// The keys read from a description, with the position and an example of each value. Faults found later, in the
/// hardware, can then be reported with their place in the file.
public struct DescriptionKeys: Sendable {
    private var positions: [String: TextPosition] = [:]
    package private(set) var examples: [String: String] = [:]

    /// For a file that could not be read.
    public init() {}

    /// - Parameter keyPath: dotted names from the root, list elements as `[0]`.
    /// - Returns: where the value starts; for an absent key, where the object that would hold it starts.
    public func position(of keyPath: String) -> TextPosition {
        var rest = keyPath[...]
        while !rest.isEmpty {
            if let position = positions[String(rest)] { return position }
            rest = rest.lastIndex(of: ".").map { rest[..<$0] } ?? ""
        }
        return positions[""] ?? .start
    }

    public func has(_ keyPath: String) -> Bool { positions[keyPath] != nil }

    /// The key with a correct value, as written in the file.
    public func example(of keyPath: String) -> String? { examples[keyPath] }

    /// The keys that the root object may have.
    var rootNames: [String] { examples.keys.filter { !$0.isEmpty && !$0.contains(".") && !$0.contains("[") } }

    mutating func found(_ keyPath: String, at position: TextPosition) { positions[keyPath] = position }

    mutating func looked(for keyPath: String, example: String) { examples[keyPath] = example }

    mutating func take(_ other: DescriptionKeys) {
        for (key, position) in other.positions { positions[key] = position }
        for (key, example) in other.examples { examples[key] = example }
    }
}
