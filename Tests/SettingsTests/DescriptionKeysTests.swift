import JSONText
import Settings
import Testing

@Suite("Places of keys")
struct DescriptionKeysTests {
    @Test func everyValueHasAPositionAndEveryKeyAnExample() throws {
        let text = """
            {"name": "Bench",
             "button": {"chip": "a",
                        "line": "GPIO17"},
             "statusLED": {"line": "GPIO27"}}
            """
        let keys = BoardDescription.decode(try JSONValue(parsing: Array(text.utf8))).keys
        #expect("\(keys.position(of: "button.line"))" == "3:21")
        #expect("\(keys.position(of: "button.chip"))" == "2:21")
        #expect("\(keys.position(of: "statusLED.line"))" == "4:24")
        // Absent: where it would be.
        #expect("\(keys.position(of: "statusLED.chip"))" == "4:15")
        #expect("\(keys.position(of: "lens"))" == "1:1")
        #expect(keys.example(of: "button.line") == #""line": "GPIO17""#)
        #expect(keys.example(of: "watchdog") == #""watchdog": "/dev/watchdog""#)
        #expect(keys.example(of: "nothing") == nil)
    }

    @Test func listElementsHaveNumbers() throws {
        let text = "{\"wifi\": [{\"ssid\": \"a\"},\n{\"ssid\": \"b\", \"password\": \"12345678\"}]}"
        let result = NetworkDescription.decode(try JSONValue(parsing: Array(text.utf8)))
        #expect("\(result.keys.position(of: "wifi[1].password"))" == "2:27")
        #expect(result.value?.wifi.map(\.keyPath) == ["wifi[0]", "wifi[1]"])
    }

    @Test func fileThatIsNotAnObjectHasNoPositions() throws {
        let keys = BoardDescription.decode(try JSONValue(parsing: Array("[]".utf8))).keys
        #expect(keys.position(of: "button.line") == .start)
    }
}
