import Settings

/// Why a text is not JSON, and where. Never quotes the text, which may contain secrets.
public struct JSONTextError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case tooLarge(byteCount: Int, limit: Int)
        case tooDeep(limit: Int)
        /// Saved by an editor in UTF-16 or UTF-32, or not text at all.
        case wrongEncoding(name: String)
        case invalidUTF8
        case numberTooBig
        /// What JSON requires at this place (RFC 8259).
        case syntax(expected: String)
    }

    public let reason: Reason
    public let position: TextPosition

    public init(_ reason: Reason, at position: TextPosition) {
        self.reason = reason
        self.position = position
    }

    /// What is wrong and what to do, without the position.
    public var problem: String {
        switch reason {
        case .tooLarge(let byteCount, let limit):
            "the file has \(byteCount) bytes; the limit is \(limit)"
        case .tooDeep(let limit): "brackets are nested deeper than \(limit)"
        case .wrongEncoding(let name): "the file is saved as \(name); save it as UTF-8"
        case .invalidUTF8: "a character is not valid UTF-8; save the file as UTF-8"
        case .numberTooBig: "the number is too large"
        case .syntax(let expected): expected
        }
    }

    /// The same error as a fault of the file, to be shown with the others.
    /// - Parameter example: a complete correct file.
    public func fault(example: String) -> DescriptionFault {
        DescriptionFault(kind: .syntax, keyPath: "", position: position, problem: problem, example: example)
    }
}

extension JSONTextError: CustomStringConvertible {
    public var description: String { "\(position): \(problem)" }
}
