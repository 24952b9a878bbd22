/// The result of decoding a description: the value, unless there are errors, and all faults.
public struct Decoded<Value: Sendable>: Sendable {
    /// `nil` exactly when `errors` is not empty.
    public let value: Value?
    /// The value without the wrong keys, for callers that can use part of it; `nil` if nothing was readable.
    public let goodPart: Value?
    /// Errors and warnings, in file order.
    public let faults: [DescriptionFault]
    public let keys: DescriptionKeys

    public var errors: [DescriptionFault] { faults.filter { !$0.isWarning } }
    public var warnings: [DescriptionFault] { faults.filter(\.isWarning) }

    init(_ value: Value?, faults: [DescriptionFault], keys: DescriptionKeys) {
        self.value = faults.contains { !$0.isWarning } ? nil : value
        goodPart = value
        self.keys = keys
        self.faults = faults.sorted { $0.position < $1.position }
    }
}

extension JSONValue {
    /// Decodes a whole file: `read` receives the root object. Duplicates anywhere are errors.
    /// - Parameter isConfidential: the file holds secrets, so faults name only keys that are known or nearly so.
    func decode<Value>(
        example: String, isConfidential: Bool = false, _ read: (inout DescriptionReader) -> Value?
    ) -> Decoded<Value> {
        var faults: [DescriptionFault] = []
        guard
            var reader = DescriptionReader(
                self, path: "", isConfidential: isConfidential, example: example, faults: &faults)
        else { return Decoded(nil, faults: faults, keys: DescriptionKeys()) }
        let value = read(&reader)
        let names = reader.allNames
        let duplicates = duplicateMembers { isConfidential && !names.contains($0) ? "***" : JSONValue.shownName($0) }
        faults += duplicates.map {
            DescriptionFault(
                kind: .duplicate, keyPath: $0.path, position: $0.position,
                problem: "is given twice, first at \($0.firstPosition); keep one",
                example: reader.keys.example(of: $0.path) ?? example)
        }
        return Decoded(value, faults: faults + reader.finished(), keys: reader.keys)
    }
}
