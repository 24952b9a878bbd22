import Testing

@testable import RTMP

@Suite("AMF0")
struct AMF0Tests {
    /// Values and their bytes, written by hand from the AMF0 specification.
    static let vectors: [(AMF0Value, String)] = [
        (.number(1), "00 3FF0000000000000"),
        (.number(-0.5), "00 BFE0000000000000"),
        (.boolean(true), "01 01"),
        (.boolean(false), "01 00"),
        (.string("live"), "02 0004 6C697665"),
        (.string(""), "02 0000"),
        (.object([AMF0Property("a", .null)]), "03 0001 61 05 0000 09"),
        (.object([]), "03 0000 09"),
        (.null, "05"),
        (.undefined, "06"),
        (.reference(258), "07 0102"),
        (.ecmaArray([AMF0Property("b", .boolean(true))]), "08 00000001 0001 62 0101 0000 09"),
        (.strictArray([.null, .number(2)]), "0A 00000002 05 00 4000000000000000"),
        (.date(milliseconds: 1, timeZone: 0), "0B 3FF0000000000000 0000"),
        (.unsupported, "0D"),
        (.xmlDocument("<a/>"), "0F 00000004 3C612F3E"),
        (.typedObject(className: "C", [AMF0Property("n", .undefined)]), "10 0001 43 0001 6E 06 0000 09"),
        (
            .object([AMF0Property("o", .object([AMF0Property("i", .strictArray([.object([])]))]))]),
            "03 0001 6F 03 0001 69 0A 00000001 03 000009 000009 000009"
        ),
    ]

    @Test("Encodes and decodes each type", arguments: vectors)
    func vector(value: AMF0Value, hex: String) throws {
        var encoded: [UInt8] = []
        encoded.appendAMF0(value)
        #expect(encoded == bytes(hex))
        var decoder = AMF0Decoder(bytes(hex))
        #expect(try decoder.decodeValue() == value)
        #expect(decoder.isAtEnd)
    }

    @Test("Refuses every truncated value", arguments: vectors)
    func truncation(value: AMF0Value, hex: String) {
        let whole = bytes(hex)
        for count in 0..<whole.count {
            var decoder = AMF0Decoder(Array(whole[..<count]))
            #expect(throws: AMF0Error.self) { try decoder.decodeValue() }
        }
    }

    @Test("Writes strings beyond 65535 bytes as long strings")
    func longString() throws {
        for (count, marker) in [(65_535, UInt8(0x02)), (65_536, 0x0C)] {
            let text = String(repeating: "x", count: count)
            var encoded: [UInt8] = []
            encoded.appendAMF0(.string(text))
            #expect(encoded.first == marker)
            var decoder = AMF0Decoder(encoded)
            #expect(try decoder.decodeValue() == .string(text))
        }
    }

    @Test("An ECMA array's count is only a hint")
    func lyingCount() throws {
        for count in ["00000000", "FFFFFFFF"] {
            var decoder = AMF0Decoder(bytes("08 \(count) 0001 61 05 0000 09"))
            #expect(try decoder.decodeValue() == .ecmaArray([AMF0Property("a", .null)]))
        }
    }

    @Test("A strict array that announces four billion values ends with its bytes")
    func hugeCount() {
        var decoder = AMF0Decoder(bytes("0A FFFFFFFF 05 05"))
        #expect(throws: AMF0Error.truncated(at: 7)) { try decoder.decodeValue() }
    }

    @Test("Nesting is limited")
    func depth() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(repeating: bytes("0A 00000001"), count: depth).flatMap { $0 } + [0x05]
        }
        var shallow = AMF0Decoder(nested(15))
        _ = try shallow.decodeValue()
        var deep = AMF0Decoder(nested(16))
        #expect(throws: AMF0Error.nestedTooDeep(limit: 16)) { try deep.decodeValue() }
        var abyss = AMF0Decoder(nested(200_000))
        #expect(throws: AMF0Error.nestedTooDeep(limit: 16)) { try abyss.decodeValue() }
    }

    @Test("The number of values in a message is limited")
    func valueCount() throws {
        var decoder = AMF0Decoder(bytes("05 05 05 05"), limits: .init(valueCount: 3))
        for _ in 0..<3 { _ = try decoder.decodeValue() }
        #expect(throws: AMF0Error.tooManyValues(limit: 3)) { try decoder.decodeValue() }
    }

    @Test("An unknown marker is reported with its position")
    func unknownMarker() {
        var decoder = AMF0Decoder(bytes("03 0001 61 11"))
        #expect(throws: AMF0Error.unknownMarker(0x11, at: 4)) { try decoder.decodeValue() }
    }

    @Test("Invalid UTF-8 is repaired")
    func invalidText() throws {
        var decoder = AMF0Decoder(bytes("02 0002 41 FF"))
        #expect(try decoder.decodeValue() == .string("A\u{FFFD}"))
    }

    @Test("Finds properties by name")
    func properties() {
        let value = AMF0Value.ecmaArray([AMF0Property("code", .string("x")), AMF0Property("n", .number(3))])
        #expect(value["code"]?.stringValue == "x")
        #expect(value["n"]?.numberValue == 3)
        #expect(value["other"] == nil)
        #expect(AMF0Value.null["code"] == nil)
    }
}

@Suite("Commands")
struct CommandTests {
    static let status = "02 0008 6F6E537461747573 00 0000000000000000 05 03 0004 636F6465 02 0001 78 000009"

    @Test("Parses a command with its object and arguments")
    func command() throws {
        let command = try Command(Message(type: .commandAMF0, payload: bytes(Self.status)))
        #expect(command.name == "onStatus")
        #expect(command.transactionID == 0)
        #expect(command.object == .null)
        #expect(command.arguments == [.object([AMF0Property("code", .string("x"))])])
        #expect(command.message().payload == bytes(Self.status))
    }

    @Test("Parses the AMF3 form, which is AMF0 after a marker byte")
    func commandAMF3() throws {
        let command = try Command(Message(type: .commandAMF3, payload: [0] + bytes(Self.status)))
        #expect(command.name == "onStatus")
    }

    @Test("Needs only the name; damage after it is ignored")
    func damaged() throws {
        let command = try Command(Message(type: .commandAMF0, payload: bytes("02 0005 636C6F7365 FF 01")))
        #expect(command == Command("close", transactionID: 0))
        #expect(throws: AMF0Error.self) { try Command(Message(type: .commandAMF0, payload: bytes("05"))) }
        #expect(throws: AMF0Error.self) { try Command(Message(type: .commandAMF0, payload: [])) }
    }
}
