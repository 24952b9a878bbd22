import JSONText
import Settings
import Testing

/// A wrong setting never falls back to a less safe one.
@Suite("Unsafe fallbacks")
struct UnsafeFallbackTests {
    private func network(_ text: String) throws -> Decoded<NetworkDescription> {
        NetworkDescription.decode(try JSONValue(parsing: Array(text.utf8)))
    }

    @Test(arguments: [
        (#""ssid": "a", "password": null"#, "1:54 wifi[0].password invalidValue"),
        (#""ssid": "a", "password": """#, "1:54 wifi[0].password invalidValue"),
        (#""ssid": "a", "password": 12345678"#, "1:54 wifi[0].password wrongType"),
        (#""ssid": "a", "password": ["hush-hush"]"#, "1:54 wifi[0].password wrongType"),
        (#""ssid": "a", "password": null, "password": "hush-hush""#, "1:60 wifi[0].password duplicate"),
        (#""ssid": "a", "password": "hush-hush", "password": null"#, "1:67 wifi[0].password duplicate"),
        (#""ssid": "a", "password": "hush-hush", "password": "hush-hush""#, "1:67 wifi[0].password duplicate"),
        (#""ssid": "a", "ssid": "b", "password": "hush-hush""#, "1:42 wifi[0].ssid duplicate"),
        (#""ssid": "a", "ssid": "b""#, "1:42 wifi[0].ssid duplicate"),
        // Under another name.
        (#""ssid": "a", "pasword": "hush-hush""#, "1:42 wifi[0].password missing"),
        (#""ssid": "a", "psk": "hush-hush""#, "1:42 wifi[0].password missing"),
    ])
    func wrongEntryIsNotAnOpenNetwork(members: String, fault: String) throws {
        let result = try network(#"{"country": "DE", "wifi": [{\#(members)}, {"ssid": "open"}]}"#)
        let reported = result.errors.map { "\($0.position) \($0.keyPath) \($0.kind)" }
        #expect(reported.contains(fault), "\(reported)")
        #expect(result.value == nil)
        #expect(result.goodPart?.wifi.map(\.ssid) == ["open"])
        #expect(result.goodPart?.wifi.map(\.keyPath) == ["wifi[1]"])
    }

    @Test(arguments: [
        #"{"url": "rtmps://h/a", "url": "rtmp://h/a", "key": "k"}"#,
        #"{"url": "rtmps://h/a", "key": "k", "key": null}"#,
        #"{"url": "rtmps://h/a/b", "caFile": 7}"#, #"{"url": "rtmps://h/a/b", "caFile": "a", "caFile": null}"#,
        #"{"url": "rtmp://h/a/b", "disabled": "true"}"#,
        #"{"url": "rtmp://h/a/b", "disabled": false, "disabled": true}"#,
        #"{"hub": "hubb", "title": "title", "publishKey": null, "hosts": {"publish": {"rtmp": "h"}}}"#,
        #"{"hub": "hubb", "title": "title", "publishKey": "", "hosts": {"publish": {"rtmp": "h"}}}"#,
        #"{"hub": "hubb", "title": "title", "publishKey": "k", "publishKey": "l", "hosts": {"publish": {"rtmp": "h"}}}"#,
        #"{"hub": "hubb", "title": "title", "publishKey": "k", "publishSecurity": 1, "hosts": {"publish": {"rtmp": "h"}}}"#,
        #"{"hub": "hubb", "title": "title", "publishKey": "k", "hosts": {"publish": {"rtmp": "h", "rtmp": "i"}}}"#,
    ])
    func wrongStreamIsNotUsed(text: String) throws {
        let result = StreamDescription.decode(try JSONValue(parsing: Array(text.utf8)))
        #expect(result.value == nil)
        #expect(!result.errors.isEmpty && result.errors.allSatisfy { $0.example != nil })
    }

    @Test func disabledFeaturesStayOff() throws {
        func beside(_ text: String) throws -> DeviceDescription {
            let json = try JSONValue(parsing: Array(text.utf8))
            let decoded = DeviceDescription.decode(json, vocabulary: DeviceFileTests.vocabulary)
            #expect(decoded.value == nil)
            return DeviceDescription(defaultsBeside: try #require(decoded.goodPart))
        }
        var expected = DeviceDescription()
        expected.console = false
        expected.audioSource = .silence
        let text =
            #"{"console": false, "audio": {"source": "silence"}, "camera": "x", "startAtBoot": true, "statusInterval": 0}"#
        #expect(try beside(text) == expected)
        expected.console = true
        expected.audioSource = .auto
        #expect(try beside(#"{"console": 0, "audio": {"source": "microphone"}, "orientation": 90}"#) == expected)
        // It is unknown here which microphone is the first.
        expected.audioSource = .silence
        for fault in [#""gain": 99"#, #""gain": "loud""#] {
            let sources = #"[{"device": "hw:1"}, {"mute": true, "device": "hw:2", \#(fault)}]"#
            #expect(try beside(#"{"audio": {"sources": \#(sources)}, "orientation": 1}"#) == expected)
        }
    }
}
