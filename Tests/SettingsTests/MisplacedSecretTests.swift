import JSONText
import Media
import Settings
import Testing

/// A secret in the wrong place is reported but not quoted.
@Suite("Misplaced secrets")
struct MisplacedSecretTests {
    private func faults(_ text: String) throws -> [DescriptionFault] {
        let json = try JSONValue(parsing: Array(text.utf8))
        return NetworkDescription.decode(json).faults + StreamDescription.decode(json).faults
    }

    @Test(arguments: [
        #"{"hushhush": "rtmp://a"}"#, #"{"hushhush": 1, "hushhush": 2}"#, #"{"wifi": [{"ssid": "a", "hushhush": 1}]}"#,
        #"{"hushhush": {"a": 1, "a": 2}}"#, #"{"url": "hushhush://a/b/c"}"#, #"{"url": "hushhush"}"#,
        #"{"url": "rtmp://a/b/c", "hushhush": 1}"#,
        #"{"hosts": {"hushhush": {}, "publish": {"hushhush": 1}}, "hub": "h"}"#,
        #"{"wifi": [{"ssid": "a", "password": "hushhush", "hushhush": 1, "hushhush": null}]}"#,
        #"{"hub": "hush", "title": "hushhush hushhush", "publishKey": "hushhush hushhush", "publishSecurity": "hushhush"}"#,
        #"{"country": "hushhush", "hostName": "hush hush", "timeServers": ["hush hush", {"hushhush": 1}]}"#,
    ])
    func misplacedSecretIsNotQuoted(text: String) throws {
        let reported = try faults(text)
        #expect(!reported.isEmpty)
        #expect(reported.allSatisfy { !$0.description.lowercased().hasPart("hush") }, "\(reported)")
        #expect(reported.allSatisfy { $0.isWarning || $0.example != nil })
    }

    @Test func numberInAFileOfSecretsIsNotQuoted() throws {
        let reported = try faults(#"{"hub": "hub", "publishSecurity": "expiring", "publishLifetime": 4711081500}"#)
        #expect(reported.contains { $0.keyPath == "publishLifetime" && !$0.description.hasPart("4711") })
    }

    @Test func misspelledKeyIsQuotedWithASuggestion() throws {
        let reported = try faults(#"{"url": "rtmp://h/a/b", "disabeld": true}"#).map(\.description)
        #expect(
            reported.contains(
                "1:25: disabeld: warning: unknown key, ignored; did you mean \"disabled\"?; for example: \"disabled\": false"
            ))
        // A key that is known, but not at this place.
        let known = try faults(#"{"hub": "hubb", "caFile": "x"}"#)
        #expect(known.contains { $0.keyPath == "caFile" && $0.kind == .unknownKey })
    }

    @Test func commonSchemeIsNamed() throws {
        let reported = try faults(#"{"url": "HTTPS://h/a/b"}"#).map(\.description)
        #expect(reported.contains { $0.hasPart("its scheme is https") })
    }
}

extension String {
    func hasPart(_ part: String) -> Bool { indices.contains { self[$0...].hasPrefix(part) } }
}
