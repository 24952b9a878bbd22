/// A value in Action Message Format 0, the encoding of RTMP commands and metadata
/// (AMF0 specification, section 2).
public enum AMF0Value: Equatable, Sendable {
    case number(Double)
    case boolean(Bool)
    /// Strings and long strings share a case; the encoder selects the marker by length.
    case string(String)
    case object([AMF0Property])
    case null
    case undefined
    /// An index of a complex value in the same message (section 2.9).
    case reference(UInt16)
    case ecmaArray([AMF0Property])
    case strictArray([AMF0Value])
    /// Milliseconds since 1970 in UTC; the time zone is reserved and should be zero.
    case date(milliseconds: Double, timeZone: Int16)
    case unsupported
    case xmlDocument(String)
    case typedObject(className: String, [AMF0Property])

    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var numberValue: Double? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The named properties of an object or an ECMA array; otherwise `nil`.
    public var properties: [AMF0Property]? {
        switch self {
        case .object(let properties), .ecmaArray(let properties), .typedObject(_, let properties): properties
        default: nil
        }
    }

    /// The first property with that name.
    public subscript(name: String) -> AMF0Value? {
        properties?.first { $0.name == name }?.value
    }
}

/// A name and its value within an object or an ECMA array, which keep their order.
public struct AMF0Property: Equatable, Sendable {
    public var name: String
    public var value: AMF0Value

    public init(_ name: String, _ value: AMF0Value) {
        self.name = name
        self.value = value
    }
}

/// The one-byte type markers of AMF0 (section 2.1).
enum AMF0Marker {
    static let number: UInt8 = 0x00
    static let boolean: UInt8 = 0x01
    static let string: UInt8 = 0x02
    static let object: UInt8 = 0x03
    static let null: UInt8 = 0x05
    static let undefined: UInt8 = 0x06
    static let reference: UInt8 = 0x07
    static let ecmaArray: UInt8 = 0x08
    static let objectEnd: UInt8 = 0x09
    static let strictArray: UInt8 = 0x0A
    static let date: UInt8 = 0x0B
    static let longString: UInt8 = 0x0C
    static let unsupported: UInt8 = 0x0D
    static let xmlDocument: UInt8 = 0x0F
    static let typedObject: UInt8 = 0x10
}
