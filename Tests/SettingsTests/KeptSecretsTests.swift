import Settings
import Testing

@Suite struct KeptSecretsTests {
    private func masked(_ text: String) -> String {
        String(decoding: KeptSecrets(in: Array(text.utf8)).masked, as: UTF8.self)
    }

    private func restored(_ edited: String, from text: String) -> String {
        String(decoding: KeptSecrets(in: Array(text.utf8)).restored(in: Array(edited.utf8)), as: UTF8.self)
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
        ("rtmp://user:pw@h/app", "(kept 1)"), ("key", "key"), ("", ""),
    ])
    func aURLHidesItsKey(url: String, shown: String) {
        #expect(masked("{\"url\": \"" + url + "\"}") == "{\"url\": \"" + shown + "\"}")
    }

    @Test(arguments: [
        (#"{"key": "abc"#, #"{"key": "(kept 1)"#), (#"{"key": abc"}"#, #"{"key": (kept 1)"}"#),
        ("{\"key\": \"abc\n\"x\": 1}", "{\"key\": \"(kept 1)\n\"x\": 1}"), (#"{"key" "abc"}"#, #"{"key" "(kept 1)"}"#),
        (#""key":"#, #""key":"#), (#"{"key": 12345}"#, #"{"key": (kept 1)}"#), (#"{"key": "a\"#, #"{"key": "(kept 1)"#),
    ])
    func aBrokenFileHidesThemToo(text: String, shown: String) {
        #expect(masked(text) == shown)
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
