import Settings
import Testing

@Suite struct KeptSecretsTests {
    private func masked(_ text: String, isCorrect: Bool = true) -> String {
        String(decoding: KeptSecrets(in: Array(text.utf8), isCorrect: isCorrect).masked, as: UTF8.self)
    }

    private func restored(_ edited: String, from text: String) -> String {
        String(
            decoding: KeptSecrets(in: Array(text.utf8), isCorrect: true).restored(
                in: Array(edited.utf8), isCorrect: true), as: UTF8.self)
    }

    @Test func secretsAreHiddenAndTheRestIsShown() {
        #expect(
            masked(
                """
                {"targets": [{"name": "a", "url": "rtmp://a.example/live/abc?x=1", "leading": true},
                 {"server": "rtmp://b.example/app", "key" : "K\\"EY"}], "publishKey": "p", "wifi": [{"password":"w w"}]}
                """)
                    == """
                    {"targets": [{"name": "a", "url": "rtmp://a.example/live/(kept 1)", "leading": true},
                     {"server": "rtmp://b.example/app", "key" : "(kept 2)"}], "publishKey": "(kept 3)", "wifi": [{"password":"(kept 4)"}]}
                    """)
    }

    @Test(arguments: [
        ("rtmp://h/app", "rtmp://h/app"), ("rtmp://h/app/", "rtmp://h/app/"),
        ("rtmp://h/app/key", "rtmp://h/app/(kept 1)"),
        ("rtmp://h/app?k=1", "rtmp://h/app?(kept 1)"), ("rtmp://h/app/inst/key", "rtmp://h/app/(kept 1)"),
        ("rtmp://user:pw@h/app", "(kept 1)"), ("key", "(kept 1)"), ("", ""),
        ("h/app/key", "(kept 1)"), ("rtmp:/h/key", "(kept 1)"), (#"rtmp://h\u002fapp\u002fkey"#, "(kept 1)"),
    ])
    func aURLHidesItsKey(url: String, shown: String) {
        #expect(masked("{\"url\": \"" + url + "\"}") == "{\"url\": \"" + shown + "\"}")
    }

    @Test(arguments: [
        #"{"key": "abc"#, #"{"key": abc"}"#, "{\"key\": \"abc\n\"x\": 1}", #"{"key" "abc"}"#, #"{"Key": "abc"}"#,
        #"{"key ": "abc"}"#,
        #"{"key" = "abc"}"#, "{key: \"abc\"}", #"{'key': "abc"}"#, #"{"key": ["abc"]}"#, #"{"key":: "abc"}"#,
        "{\"key\": \"x\nabc\"}",
        "{\"key\":\n\"abc\"", "{\"url\": \"rtmp://h/live\", \"key\":\n \"abc\"", "{\"key\": [\n\"abc\"",
        #"{"stream_key": "abc""#, "rtmp://h/live/abc", #"{"server": "rtmp://h/live/abc""#, "{'psk' = 'abc'",
        "{\"a\": \"live\"\",\n \"key\": \"abc\"}", "// key abc\n{}", "{\"u\": \"\"\"\n\"url\": \"rtmp://h/a/abc\"",
    ])
    func aBrokenFileShowsNone(text: String) {
        let shown = masked(text, isCorrect: false)
        #expect(!shown.split(separator: "c").contains { $0.hasSuffix("ab") }, "\(shown)")
        let kept = KeptSecrets(in: Array(text.utf8), isCorrect: false)
        #expect(kept.restored(in: kept.masked, isCorrect: false) == Array(text.utf8))
    }

    /// Whoever has such a file needs help, and sends a support file.
    @Test(arguments: [
        #"{"stream_key": "abc"}"#, #"{"streamKey": "abc"}"#, #"{"wifi": [{"ssid": "Studio", "psk": "abc"}]}"#,
        #"{"Passwort": "abc"}"#, "{\"key\": [\n\"abc\"\n]}", "{\"key\": {\n\"value\": \"]abc\"\n}}",
        #"{"server": "rtmp://h/live/abc"}"#, #"{"url": ["rtmp://h/live/abc"]}"#, #"{"targets": ["rtmp://h/live/abc"]}"#,
        #""rtmp://h/live/abc""#, #"{"url": "rtmp://user:abc@h/live"}"#,
    ])
    func aSecretUnderAnotherNameIsHiddenAndComesBack(text: String) {
        #expect(!masked(text).contains("abc"), "\(masked(text))")
        #expect(restored(masked(text), from: text) == text)
    }

    @Test func textWithAnAddressIsShown() {
        let text = #"{"filters": ["text text=me@example.com, https://example.com/a"]}"#
        #expect(masked(text) == text)
    }

    @Test func anotherTextLosesTheSameSecrets() {
        let file = #"{"url": "rtmp://h/a/abcdef", "key": "0123456789", "password": "short"}"#
        let kept = KeptSecrets(in: Array(file.utf8), isCorrect: true)
        let log = "to abcdef with 01230123456789, in short"
        #expect(
            String(decoding: kept.removed(from: Array(log.utf8)), as: UTF8.self)
                == "to (kept) with 0123(kept), in short")
    }

    @Test func escapedNamesAndOtherEncodingsShowNone() {
        #expect(
            masked(#"{"\u006bey": "abc", "url": "rtmp:\/\/h\/a\/abc"}"#)
                == #"{"\u006bey": "(kept 1)", "url": "(kept 2)"}"#)
        let other: [UInt8] = [0x22, 0, 0x6B, 0]
        #expect(KeptSecrets(in: other, isCorrect: false).masked == Array("(kept 1)".utf8))
    }

    @Test func aSecretThatIsNoTextIsHidden() {
        #expect(masked("{\"key\": [\"abc\"],\n\"x\": 1}") == "{\"key\": (kept 1)\n\"x\": 1}")
        #expect(
            restored("{\"key\": (kept 1)\n\"x\": 2}", from: "{\"key\": 12,\n\"x\": 1}") == "{\"key\": 12,\n\"x\": 2}")
    }

    @Test func keptSecretsComeBack() {
        let text = #"{"targets": [{"name": "a", "key": "one"}, {"name": "b", "key": "two"}]}"#
        #expect(restored(masked(text), from: text) == text)
        #expect(
            restored(#"{"targets": [{"name": "b", "key": "(kept 2)"}, {"key": "new"}]}"#, from: text)
                == #"{"targets": [{"name": "b", "key": "two"}, {"key": "new"}]}"#)
    }

    @Test func aPlaceholderElsewhereIsText() {
        let text = #"{"name": "x", "key": "one"}"#
        for edited in [#"{"name": "(kept 1)"}"#, #"{"key": "(kept 2)"}"#, #"{"key": "a (kept 1)"}"#] {
            #expect(restored(edited, from: text) == edited)
        }
    }
}
