import Media
import Settings
import Testing

/// `targets` of stream.json.
@Suite struct StreamTargetsTests {
    private static let youtube = #"{"name": "youtube", "url": "rtmps://a.rtmps.youtube.com/live2", "key": "k1"}"#
    private static let own = #"{"name": "own", "url": "rtmp://192.168.1.20/live", "key": "k2"}"#

    private func targets(_ entries: String...) -> String { "{\"targets\": [\(entries.joined(separator: ", "))]}" }

    @Test func theFirstTargetLeads() throws {
        let result = try decoded(targets(Self.youtube, Self.own))
        #expect(result.faults == [])
        let stream = try #require(result.value)
        #expect(stream.targets.map(\.name) == ["youtube", "own"] && stream.needsClock)
        #expect(stream.targets.map { $0.keyPath(of: "url") } == ["targets[0].url", "targets[1].url"])
    }

    @Test func aMarkedTargetLeads() throws {
        let marked = #"{"name": "own", "url": "rtmp://h/live", "key": "k", "leading": true, "maxKbit": 2500}"#
        let off = #"{"name": "backup", "url": "rtmp://h/other", "key": "k", "disabled": true}"#
        let stream = try #require(try decoded(targets(Self.youtube, off, marked)).value)
        #expect(stream.targets.map(\.name) == ["own", "youtube", "backup"])
        #expect(stream.leading.highestBitrate == Bitrate(kilobitsPerSecond: 2500))
        #expect(stream.targets.map(\.isOff) == [false, false, true])
        #expect(stream.leading.keyPath(of: "key") == "targets[2].key")
    }

    @Test func aFileWithOneServerHasOneTargetWithoutName() throws {
        let stream = try #require(try decoded(#"{"url": "rtmp://h/live", "key": "k"}"#).value)
        #expect(stream.targets.count == 1 && stream.leading.name == nil && stream.leading.keyPath(of: "key") == "key")
    }

    @Test func eachFaultIsAtItsKey() throws {
        let cases: [(file: String, keyPath: String)] = [
            (targets(), "targets"),
            (#"{"targets": {"name": "a"}}"#, "targets"),
            (targets(Self.own, Self.own, Self.own, Self.own, Self.own), "targets"),
            (targets(Self.youtube, Self.youtube), "targets"),
            (
                targets(Self.youtube, #"{"name": "b", "url": "rtmps://a.rtmps.youtube.com/live2", "key": "k1"}"#),
                "targets"
            ),
            (targets(#"{"url": "rtmp://h/live", "key": "k"}"#), "targets[0].name"),
            (targets(#"{"name": "Main Stage", "url": "rtmp://h/live", "key": "k"}"#), "targets[0].name"),
            (targets(Self.youtube, #"{"name": "b", "url": "http://h/live", "key": "k"}"#), "targets[1].url"),
            (targets(Self.youtube, #"{"name": "b"}"#), "targets[1]"),
            (targets(#"{"name": "b", "url": "rtmp://h/live", "key": "k", "maxKbit": 3}"#), "targets[0].maxKbit"),
            (targets(#"{"name": "b", "url": "rtmp://h/live", "key": "k", "disabled": true}"#), "targets"),
            (#"{"url": "rtmp://h/live", "targets": [\#(Self.own)]}"#, "url"),
        ]
        for (file, keyPath) in cases {
            let result = try decoded(file)
            let paths = result.errors.map { $0.keyPath.hasSuffix(".") ? String($0.keyPath.dropLast()) : $0.keyPath }
            #expect(result.value == nil && paths.contains(keyPath), "\(file): \(result.faults)")
            #expect(result.faults.allSatisfy { !$0.description.contains("k1") }, "\(result.faults)")
        }
    }

    @Test func twoLeadingTargetsAndADisabledLeaderAreFaults() throws {
        let leading = #"{"name": "a", "url": "rtmp://h/live", "key": "k", "leading": true}"#
        let another = #"{"name": "b", "url": "rtmp://h/live", "key": "l", "leading": true}"#
        let disabled = #"{"name": "c", "url": "rtmp://h/live", "key": "m", "leading": true, "disabled": true}"#
        #expect(try decoded(targets(leading, another)).errors.count == 1)
        #expect(try decoded(targets(Self.own, disabled)).errors.count == 1)
    }

    @Test func theSummaryNamesTheTargetOfEachLimit() throws {
        let twitch = #"{"name": "twitch", "url": "rtmps://live.twitch.tv/app", "key": "k", "maxKbit": 6000}"#
        let slow = #"{"name": "slow", "url": "rtmp://h/live", "key": "k", "maxKbit": 800}"#
        let lines = try #require(try decoded(targets(Self.youtube, twitch, slow)).value).summary.split(separator: "\n")
        #expect(
            lines.map { $0.drop { $0 == " " } } == [
                "youtube: rtmps://a.rtmps.youtube.com/live2/***", "twitch: rtmps://live.twitch.tv/app/***",
                "slow: rtmp://h/live/***",
                "the video has at most 800 kbit/s, for slow", "a keyframe every 2 s, for twitch",
                "always with audio, for youtube", "the frame size stays the same, for twitch",
            ])
    }
}
