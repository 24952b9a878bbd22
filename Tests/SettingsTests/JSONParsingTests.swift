import JSONText
import Settings
import Testing

@Suite("JSON parsing")
struct JSONParsingTests {
    private func parse(_ text: String) throws(JSONTextError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    private func fault(_ text: String) -> String {
        do throws(JSONTextError) {
            _ = try parse(text)
            return "no fault"
        } catch {
            return error.description
        }
    }

    private func places(_ value: JSONValue) -> String {
        switch value.content {
        case .array(let elements): "\(value.position)[\(elements.map(places).joined(separator: " "))]"
        case .object(let members):
            "\(value.position){\(members.map { "\($0.namePosition)\($0.name)=\(places($0.value))" }.joined(separator: " "))}"
        default: "\(value.position)"
        }
    }

    @Test func everyValueHasItsPosition() throws {
        let text = """
            {
              "a" : 1, "b":[true,  null , "x\\"[,:" ,-1.5e3],
            \t"c":{"d":"e"}, "f": {}, "g": []
            }
            """
        #expect(
            try places(parse(text))
                == "1:1{2:3a=2:9 2:12b=2:16[2:17 2:24 2:31 2:41] 3:2c=3:6{3:7d=3:11} 3:17f=3:22{} 3:26g=3:31[]}")
    }

    @Test func linesEndInThreeWaysAndColumnsCountCharacters() throws {
        #expect(try places(parse("[1,\r\n2,\r3,\n\"äö€😀\", 4]")) == "1:1[1:2 2:1 3:1 4:1 4:9]")
    }

    @Test func byteOrderMarkIsSkipped() throws {
        let value = try JSONValue(parsing: [0xEF, 0xBB, 0xBF] + Array("{\"a\": 1}".utf8))
        #expect(places(value) == "1:1{1:2a=1:7}")
    }

    /// Found by fuzzing: RapidJSON's own conversion reads past the end of its table of powers.
    @Test(arguments: [
        ("922732.303684467440737095516467440737095516151e-368", 0), ("1e-400", 0), ("5e-324", 5e-324),
        ("1.7976931348623157e308", 1.7976931348623157e308), ("0.1000000000000000055511151231257827", 0.1),
        ("-0.0", -0.0), ("9007199254740993.0", 9007199254740992), ("1E+2", 100),
    ])
    func fractionsBecomeTheNearestNumber(text: String, number: Double) throws {
        guard case .number(let value) = try parse(text).content else {
            Issue.record("no fraction")
            return
        }
        #expect(value.bitPattern == number.bitPattern)
    }

    @Test(arguments: [
        "1e309", "-1e309", "1e99999999999", "0.1e310", String(repeating: "9", count: 310), "1.8e308", "-1.8e308",
    ])
    func numberBeyondDoubleIsTooBig(text: String) {
        #expect(fault("[\(text)]") == "1:2: the number is too large")
    }

    @Test func numbersKeepTheirKind() throws {
        guard
            case .array(let numbers) = try parse(
                "[0, -1, 9223372036854775807, 18446744073709551615, 0.1, 1e308, -9223372036854775808]"
            ).content
        else {
            Issue.record("no array")
            return
        }
        let texts = numbers.map { number in
            switch number.content {
            case .integer(let value): "i\(value)"
            case .number(let value): "d\(value)"
            default: "?"
            }
        }
        #expect(
            texts == [
                "i0", "i-1", "i9223372036854775807", "d1.8446744073709552e+19", "d0.1", "d1e+308",
                "i-9223372036854775808",
            ])
    }

    @Test func textIsUnescaped() throws {
        guard case .string(let text) = try parse(#""\u00e4\ud83d\ude00\n\/\u0000\udc00""#).content else {
            Issue.record("no text")
            return
        }
        // A lone surrogate is not a character; each of its bytes is replaced.
        #expect(text == "ä😀\n/\0\u{FFFD}\u{FFFD}\u{FFFD}")
    }

    @Test func orderAndDuplicatesAreKept() throws {
        let value = try parse("{\"z\":1,\"a\":{\"x\":1,\n\"x\":2},\"z\":3,\"l\":[{\"q\":0,\"q\":0}]}")
        #expect(value.members?.map(\.name) == ["z", "a", "z", "l"])
        #expect(
            value.duplicateMembers().map { "\($0.path) \($0.position) \($0.firstPosition)" } == [
                "a.x 2:1 1:13", "z 2:8 1:2", "l[0].q 2:26 2:20",
            ])
    }

    @Test func duplicatesBelowAVeryLongNameAreFewAndCheap() throws {
        // When a path was built for every member, even without a duplicate, this took 40 GB.
        let members = Array(repeating: #""a":1"#, count: 80_000).joined(separator: ",")
        let value = try parse("{\"\(String(repeating: "b", count: 500_000))\":{\(members)}}")
        let duplicates = value.duplicateMembers()
        #expect(duplicates.count == 20)
        // A name this long may be a key, so it is not shown.
        #expect(duplicates.allSatisfy { $0.path == "***.a" })
    }

    @Test(arguments: [
        ("", "1:1: the file is empty; expected an object that starts with {"),
        ("  \n ", "2:2: the file is empty; expected an object that starts with {"),
        (
            "{\"a\": 1,}",
            "1:9: expected a name in double quotes, or } to end the object, found '}'; remove the comma before it"
        ),
        (
            "[1,\n]",
            "2:1: expected a value: text in double quotes, a number, true, false, null, { or [, found ']'; remove the comma before it"
        ),
        ("{\"a\" 1}", "1:6: expected a colon after the name, found a digit"),
        ("{\"a\"=1}", "1:5: expected a colon after the name, found '='; write : instead of ="),
        ("{\"a\": 1\n \"b\": 2}", "2:2: expected a comma before the next name, or } to end the object, found '\"'"),
        ("[1 2]", "1:4: expected a comma before the next value, or ] to end the list, found a digit"),
        ("{a: 1}", "1:2: expected a name in double quotes, or } to end the object, found a letter"),
        ("{'a': 1}", "1:2: expected a name in double quotes, or } to end the object, found '''; use double quotes"),
        ("{} {}", "1:4: expected nothing more after the last closing bracket, found '{'"),
        (
            "{\"a\": \"b\n\"}",
            "1:9: expected \" before the end of the line; in text, write a tab as \\t"
        ),
        ("{\"a\": \"b", "1:9: expected \" at the end of the text, found the end of the file"),
        ("{\"a\": {", "1:8: expected a name in double quotes, or } to end the object, found the end of the file"),
        ("{\"a\": 1", "1:8: expected a comma before the next name, or } to end the object, found the end of the file"),
        (
            "[\"\\x\"]",
            "1:3: expected one of \" \\ / b f n r t u after the backslash (write a backslash as \\\\), found '\\'"
        ),
        ("[1.]", "1:4: expected a digit after the decimal point, found ']'"),
        ("[1e400]", "1:2: the number is too large"),
        (
            "// a\n{}",
            "1:1: expected a value: text in double quotes, a number, true, false, null, { or [, found '/'; JSON has no comments"
        ),
        (
            "{\"a\": True}",
            "1:7: expected a value: text in double quotes, a number, true, false, null, { or [, found a letter; write true, false and null in lower case"
        ),
        (
            "{“a”: 1}",
            "1:2: expected a name in double quotes, or } to end the object, found another character; typographic quotes are not allowed, use \""
        ),
    ])
    func faultSaysWhereAndWhatWasExpected(text: String, message: String) {
        #expect(fault(text) == message)
    }

    @Test func badEncodingsAreNamed() {
        func reason(_ bytes: [UInt8]) -> JSONTextError.Reason? {
            do throws(JSONTextError) {
                _ = try JSONValue(parsing: bytes)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(reason([0xFF, 0xFE, 0x7B, 0, 0x7D, 0]) == .wrongEncoding(name: "UTF-16"))
        #expect(reason([0xFE, 0xFF, 0, 0x7B, 0, 0x7D]) == .wrongEncoding(name: "UTF-16"))
        #expect(reason([0x7B, 0, 0x7D, 0]) == .wrongEncoding(name: "UTF-16"))
        #expect(reason([0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0]) == .wrongEncoding(name: "UTF-32"))
        #expect(
            reason(Array("{}".utf8) + [0] + Array("x".utf8))
                == .wrongEncoding(name: "binary data (it holds zero bytes)"))
        // "Tür" in Latin-1, a truncated sequence, an overlong slash, a surrogate.
        for bytes: [UInt8] in [[0x54, 0xFC, 0x72], [0xE2, 0x82], [0xC0, 0xAF], [0xED, 0xA0, 0x80]] {
            #expect(reason([0x5B, 0x22] + bytes + [0x22, 0x5D]) == .invalidUTF8)
        }
    }

    @Test func sizeAndDepthAreLimited() throws {
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(throws: Never.self) { try parse(deep) }
        #expect(fault("[" + deep + "]") == "1:65: brackets are nested deeper than 64")
        #expect(fault(String(repeating: "{\"a\":", count: 100_000)) == "1:321: brackets are nested deeper than 64")
        let limit = 1 << 20
        let full = "[" + String(repeating: " ", count: limit - 2) + "]"
        #expect(throws: Never.self) { try parse(full) }
        #expect(fault(full + " ") == "1:1: the file has 1048577 bytes; the limit is 1048576")
    }

    @Test func everyPrefixAndEveryBrokenByteIsHandled() throws {
        let text = Array(#"{"url":"rtmp://a/b","n":[1,-2.5e-3,true,null,{"k":"\u00e4\\"}]}"#.utf8)
        for count in text.indices {
            #expect(throws: JSONTextError.self) { try JSONValue(parsing: Array(text[..<count])) }
        }
        for index in text.indices {
            for byte: UInt8 in [0x00, 0x22, 0x5C, 0x7B, 0x5D, 0x80, 0xFF] {
                var broken = text
                broken[index] = byte
                _ = try? JSONValue(parsing: broken)
            }
        }
    }

    @Test func treeNeverPrintsItsContent() throws {
        let value = try parse(#"{"publishKey": "hush-hush", "list": ["hush-hush"]}"#)
        var dumped = ""
        dump(value, to: &dumped)
        for text in ["\(value)", String(reflecting: value), "\(value.members ?? [])", dumped] {
            #expect(!text.contains("hush"))
        }
    }
}
