/// Why bytes are not AMF0.
public enum AMF0Error: Error, Equatable, Sendable {
    /// The bytes end inside a value; the position is where the missing part should start.
    case truncated(at: Int)
    case unknownMarker(UInt8, at: Int)
    case nestedTooDeep(limit: Int)
    case tooManyValues(limit: Int)
}

extension AMF0Error: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let position): "AMF0 ends inside a value at byte \(position)"
        case .unknownMarker(let marker, let position): "AMF0 has an unknown type marker \(marker) at byte \(position)"
        case .nestedTooDeep(let limit): "AMF0 is nested deeper than \(limit) levels"
        case .tooManyValues(let limit): "AMF0 has more than \(limit) values in one message"
        }
    }
}

/// Decodes consecutive AMF0 values. Announced counts are never trusted: memory grows only with bytes that are present,
/// up to the limits. Text that is not UTF-8 is repaired rather than refused.
public struct AMF0Decoder {
    public struct Limits: Sendable {
        /// How deep objects and arrays may be nested.
        public var depth: Int
        /// The most values in all objects and arrays together.
        public var valueCount: Int

        public init(depth: Int = 16, valueCount: Int = 4096) {
            self.depth = depth
            self.valueCount = valueCount
        }
    }

    private var reader: ByteReader
    private let limits: Limits
    private var valueCount = 0

    public init(_ bytes: [UInt8], from position: Int = 0, limits: Limits = Limits()) {
        reader = ByteReader(bytes, from: position)
        self.limits = limits
    }

    public var isAtEnd: Bool { reader.remaining == 0 }

    /// Bytes consumed so far, from the start of the array.
    public var position: Int { reader.position }

    public mutating func decodeValue() throws(AMF0Error) -> AMF0Value { try decodeValue(depth: 0) }

    private mutating func decodeValue(depth: Int) throws(AMF0Error) -> AMF0Value {
        guard depth < limits.depth else { throw .nestedTooDeep(limit: limits.depth) }
        valueCount += 1
        guard valueCount <= limits.valueCount else { throw .tooManyValues(limit: limits.valueCount) }
        let start = reader.position
        let marker = try require(reader.readUInt8())
        switch marker {
        case AMF0Marker.number: return .number(try decodeDouble())
        case AMF0Marker.boolean: return .boolean(try require(reader.readUInt8()) != 0)
        case AMF0Marker.string: return .string(try decodeShortText())
        case AMF0Marker.object: return .object(try decodeProperties(depth: depth))
        case AMF0Marker.null: return .null
        case AMF0Marker.undefined: return .undefined
        case AMF0Marker.reference: return .reference(try require(reader.readUInt16()))
        case AMF0Marker.ecmaArray:
            // The count is only a hint: some writers set it to zero.
            _ = try require(reader.readUInt32())
            return .ecmaArray(try decodeProperties(depth: depth))
        case AMF0Marker.strictArray: return .strictArray(try decodeElements(depth: depth))
        case AMF0Marker.date:
            let milliseconds = try decodeDouble()
            return .date(milliseconds: milliseconds, timeZone: Int16(bitPattern: try require(reader.readUInt16())))
        case AMF0Marker.longString: return .string(try decodeLongText())
        case AMF0Marker.unsupported: return .unsupported
        case AMF0Marker.xmlDocument: return .xmlDocument(try decodeLongText())
        case AMF0Marker.typedObject:
            let className = try decodeShortText()
            return .typedObject(className: className, try decodeProperties(depth: depth))
        default: throw .unknownMarker(marker, at: start)
        }
    }

    private mutating func decodeProperties(depth: Int) throws(AMF0Error) -> [AMF0Property] {
        var properties: [AMF0Property] = []
        while true {
            let name = try decodeShortText()
            if name.isEmpty, reader.peekUInt8() == AMF0Marker.objectEnd {
                _ = reader.readUInt8()
                return properties
            }
            properties.append(AMF0Property(name, try decodeValue(depth: depth + 1)))
        }
    }

    private mutating func decodeElements(depth: Int) throws(AMF0Error) -> [AMF0Value] {
        let count = try require(reader.readUInt32())
        var values: [AMF0Value] = []
        for _ in 0..<count { values.append(try decodeValue(depth: depth + 1)) }
        return values
    }

    private mutating func decodeDouble() throws(AMF0Error) -> Double {
        Double(bitPattern: try require(reader.readUInt64()))
    }

    private mutating func decodeShortText() throws(AMF0Error) -> String {
        let count = Int(try require(reader.readUInt16()))
        return String(decoding: try require(reader.readBytes(count)), as: UTF8.self)
    }

    private mutating func decodeLongText() throws(AMF0Error) -> String {
        let count = Int(try require(reader.readUInt32()))
        return String(decoding: try require(reader.readBytes(count)), as: UTF8.self)
    }

    private func require<Part>(_ part: Part?) throws(AMF0Error) -> Part {
        guard let part else { throw .truncated(at: reader.position) }
        return part
    }
}
