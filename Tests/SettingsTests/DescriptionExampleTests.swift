import JSONText
import Media
import Settings
import Testing

/// Faults print an example of a correct entry. People copy it.
@Suite("Examples in faults")
struct DescriptionExampleTests {
    private static let qualities = VideoQualityVocabulary(
        names: ["Low1", "Medium1", "High3"], kilobits: 150...9000, frameRates: 24...60,
        named: { .quality(name: $0, Bitrate(kilobitsPerSecond: 900)) }, problemWithLevel: { _, _ in nil })
    private static let vocabulary = DeviceVocabulary(
        videoQualities: qualities, audioQualities: ["Low1", "Low2", "Medium1", "Medium2", "High1", "High2"]
    ) { _ in nil }

    /// Each form of each file; the keys that are read depend on it.
    private static let starts: [(DescriptionKind, String)] =
        DescriptionKind.allCases.flatMap { [($0, "{}"), ($0, $0.example)] } + [(.stream, #"{"hub": "my-hub"}"#)]

    private func decode(_ kind: DescriptionKind, _ text: String) throws -> ([DescriptionFault], DescriptionKeys) {
        let json = try JSONValue(parsing: Array(text.utf8))
        switch kind {
        case .stream:
            let decoded = StreamDescription.decode(json)
            return (decoded.faults, decoded.keys)
        case .device:
            let decoded = DeviceDescription.decode(json, vocabulary: Self.vocabulary)
            return (decoded.faults, decoded.keys)
        case .network:
            let decoded = NetworkDescription.decode(json)
            return (decoded.faults, decoded.keys)
        case .board:
            let decoded = BoardDescription.decode(json)
            return (decoded.faults, decoded.keys)
        }
    }

    /// - Returns: a file with the example at its place, and the key path of that place.
    private func file(with example: String, for keyPath: String) throws -> (text: String, keyPath: String) {
        if example.hasPrefix("{"), let end = keyPath.lastIndex(of: ".") {
            // The object that the key is in.
            let parent = String(keyPath[..<end])
            let name = parent.split(separator: ".").last ?? ""
            return try file(with: "\"\(name)\": \(example)", for: parent)
        }
        let name = try #require(example.split(separator: "\"").first.map(String.init), "\(keyPath): \(example)")
        let parts = keyPath.split(separator: ".").map(String.init)
        let depth = parts.lastIndex { $0.prefix { $0 != "[" } == name } ?? parts.count - 1
        let text = parts[..<depth].reversed().reduce(example) { inner, part in
            let outer = part.prefix { $0 != "[" }
            return part.hasSuffix("]") ? "\"\(outer)\": [{\(inner)}]" : "\"\(outer)\": {\(inner)}"
        }
        return ("{\(text)}", (parts[..<depth] + [name]).joined(separator: "."))
    }

    @Test func exampleOfAWholeFileIsAccepted() throws {
        for kind in DescriptionKind.allCases {
            #expect(try decode(kind, kind.example).0.filter { !$0.isWarning } == [], "\(kind.rawValue)")
        }
    }

    @Test func exampleOfEachKeyIsAccepted() throws {
        var tried: Set<String> = []
        var waiting = Self.starts
        while let (kind, text) = waiting.popLast() {
            for (keyPath, example) in try decode(kind, text).1.examples
            where tried.insert("\(kind.rawValue) \(keyPath) \(example)").inserted {
                let entry = try file(with: example, for: keyPath)
                let refused = try decode(kind, entry.text).0.filter { fault in
                    let isInside =
                        fault.keyPath == entry.keyPath || fault.keyPath.hasPrefix("\(entry.keyPath).")
                        || fault.keyPath.hasPrefix("\(entry.keyPath)[")
                    // Warnings concern other keys of the file, which are missing here.
                    return isInside && !fault.isWarning
                }
                #expect(refused == [], "\(kind.rawValue): \(entry.text)")
                waiting.append((kind, entry.text))
            }
        }
        #expect(tried.count > 100)
    }
}
