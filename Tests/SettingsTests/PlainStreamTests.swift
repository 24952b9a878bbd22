import Settings
import Testing

@Suite("Plain streams")
struct PlainStreamTests {
    @Test func plainFormIsRead() throws {
        let result = try decoded(
            #"{"url": "rtmps://live.example.com/app", "key": "hush-hush", "caFile": "ca.pem", "disabled": false}"#)
        #expect(result.faults == [])
        let stream = try #require(result.value)
        #expect(stream.leading.caFile == "ca.pem")
        #expect(stream.leading.platform == .default)
        var nonces = NonceSequence(savedText: nil)
        let url = try stream.leading.publishURL(unixSeconds: 0, nonces: &nonces) { _, _ in [] }
        #expect(url.streamName == "hush-hush")
        #expect(nonces.unsavedText == nil)
        #expect(!"\(stream)\(String(reflecting: stream))".contains("hush"))
    }

    @Test(arguments: [
        #""url": "rtmp://h/app/name""#,
        #""hub": "h", "title": "door", "publishSecurity": "none", "hosts": {"publish": {"rtmp": "h"}}"#,
    ])
    func bothFormsHaveAPauseImage(form: String) throws {
        let result = try decoded("{\(form), \"pauseImage\": \"slate.png\"}")
        #expect(result.faults == [])
        let stream = try #require(result.value)
        #expect(stream.pauseImage == "slate.png")
        #expect(stream.located(in: "/boot").pauseImage == "/boot/slate.png")
        #expect(try decoded("{\(form), \"pauseImage\": \"/a.png\"}").value?.located(in: "/boot").pauseImage == "/a.png")
        #expect(try decoded("{\(form)}").value?.located(in: "/boot").pauseImage == nil)
        #expect(try decoded("{\(form), \"pauseImage\": \"\"}").errors.map(\.keyPath) == ["pauseImage"])
    }

    @Test(arguments: [
        (#"{"url": "rtmp://h/app/name", "caFile": "x"}"#, ["1:40 caFile suspicious"]),
        (#"{"url": "rtmp://h/app/HUSHHUSH", "key": "k"}"#, ["1:9 url suspicious"]),
        (#"{"url": "rtmp://h/app"}"#, ["1:9 url invalidValue"]),
        (#"{"url": "rtmp://h/app/x", "key": "a b"}"#, ["1:34 key invalidValue"]),
        (#"{"url": "rtmp://h/app/x", "key": ""}"#, ["1:34 key invalidValue"]),
        (#"{"url": 5, "key": false}"#, ["1:9 url wrongType", "1:19 key wrongType"]),
        (#"{"key": "k"}"#, ["1:1 url missing"]),
        (#"{"url": "rtmp://live-api-s.facebook.com/rtmp", "key": "k"}"#, ["1:9 url invalidValue"]),
        (#"{"url": "rtmp://h/a/b", "publishKey": "k"}"#, ["1:39 publishKey invalidValue"]),
        (#"{"url": "rtmp://h/a/b", "ky": "k"}"#, ["1:25 ky unknownKey"]),
        (#"{"url": "rtmp://h/a/b", "HUSHHUSH": "k"}"#, ["1:25  unknownKey"]),
        (#"{"ur": "rtmp://h/a/b"}"#, ["1:1  missing", "1:2 ur unknownKey"]),
        (#"{"url": "hush://h/a/b"}"#, ["1:9 url invalidValue"]),
        (#"{"url": "rtmp://h/a/b", "disabled": "no"}"#, ["1:37 disabled wrongType"]),
        (#"{"url": "rtmp://h/a/b", "disabled": true}"#, ["1:37 disabled disabled"]),
        (#"{}"#, ["1:1  missing"]), (#"[]"#, ["1:1  wrongType"]), (#"  "x""#, ["1:3  wrongType"]),
    ])
    func faultsOfThePlainForm(text: String, faults: [String]) throws {
        let result = try decoded(text)
        #expect(result.faults.map { "\($0.position) \($0.keyPath) \($0.kind)" } == faults)
        #expect((result.value == nil) == !result.errors.isEmpty)
    }

    @Test(arguments: [
        ("a.rtmp.youtube.com", "YouTube"), ("a.rtmps.YouTube.com", "YouTube"), ("live.twitch.tv", "Twitch"),
        ("fra02.contribute.live-video.net", "Twitch"), ("live-api-s.facebook.com", "Facebook"),
        ("pili-publish.example.com", "Pili"), ("notyoutube.com", "default"), ("10.0.0.1", "default"),
    ])
    func platformsAreRecognizedByHost(host: String, name: String) throws {
        #expect(PlatformProfile(host: host).name == name)
    }

    @Test func platformsHaveTheirRequirements() {
        #expect(PlatformProfile.facebook.requiresTLS && PlatformProfile.facebook.requiresAudio)
        #expect(!PlatformProfile.facebook.allowsSizeChange)
        #expect(PlatformProfile.youTube.requiresAudio && !PlatformProfile.youTube.requiresTLS)
        #expect(PlatformProfile.youTube.longestKeyframeInterval == .seconds(4))
        #expect(PlatformProfile.default.keyframeInterval == .seconds(2))
    }

    @Test func garbageIsLimitedAndPrintable() throws {
        let names = (0..<30_000).map { "\"unknown-key-\($0)-\\u001b[31m\": 1" }.joined(separator: ",")
        let faults = try decoded("{\"url\": \"rtmp://h/a/b\", \(names)}").faults
        #expect(faults.count == 21)
        #expect(faults.last?.problem == "29980 more unknown keys from here on, ignored")
        #expect(faults.allSatisfy { $0.description.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
    }
}
