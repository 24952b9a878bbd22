import JSONText
import Settings
import Testing

@Suite("JSON lines")
struct JSONLineWriterTests {
    private func line(_ body: (borrowing JSONObjectWriter) -> Void) -> String {
        var writer = JSONLineWriter()
        return String(decoding: writer.line(body), as: UTF8.self)
    }

    @Test func everyKindOfValueIsWritten() {
        let text = line { object in
            object.write("t", 1.25)
            object.write("code", -1307)
            object.write("name", "connected")
            object.write("ok", true)
            object.writeNull("nothing")
            object.write("big", UInt64.max)
            object.writeObject("video") { video in
                video.write("fps", 30)
                video.writeArray("sizes") { sizes in
                    sizes.write(640)
                    sizes.write(0.5)
                    sizes.write("x")
                    sizes.write(false)
                    sizes.writeNull()
                    sizes.writeObject { _ in }
                    sizes.writeArray { $0.write(1) }
                }
            }
        }
        #expect(
            text
                == #"{"t":1.25,"code":-1307,"name":"connected","ok":true,"nothing":null,"big":9223372036854775807,"#
                + #""video":{"fps":30,"sizes":[640,0.5,"x",false,null,{},[1]]}}"# + "\n")
    }

    @Test func numbersThatJSONLacksBecomeNull() {
        #expect(
            line {
                $0.write("a", Double.nan)
                $0.write("b", -Double.infinity)
            } == "{\"a\":null,\"b\":null}\n")
    }

    @Test func textIsEscapedAndRepaired() throws {
        let bytes: [UInt8] = [0x61, 0xFF, 0x62]
        let text = line {
            $0.write("a\"\\", "\n\r\t\u{1}\0/€😀\"")
            $0.write("b", utf8: bytes)
        }
        #expect(text == #"{"a\"\\":"\n\r\t\u0001\u0000/€😀\"","b":"a\#u{FFFD}b"}"# + "\n")
        let value = try JSONValue(parsing: Array(text.utf8))
        guard case .string(let back) = value["a\"\\"]?.content else {
            Issue.record("no text")
            return
        }
        #expect(back == "\n\r\t\u{1}\0/€😀\"")
    }

    @Test func oneWriterWritesManyLines() {
        var writer = JSONLineWriter()
        for number in 0..<3 {
            #expect(writer.line { $0.write("n", number) } == Array("{\"n\":\(number)}\n".utf8))
        }
        #expect(writer.line { _ in } == Array("{}\n".utf8))
    }
}
