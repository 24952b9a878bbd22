import Filters
import JSONText
import Media
import Settings
import Testing

@Suite("device.json, board.json, network.json")
struct DeviceFileTests {
    /// "900k" and "9000k@60" are the bit rates in numbers; only the first fits 720p.
    private static let qualities = VideoQualityVocabulary(
        names: ["Low1", "Low2", "Medium1", "Medium3", "High1"], kilobits: 150...9000, frameRates: 24...60,
        named: { text in
            let names = ["Low1", "Low2", "Medium1", "900k", "Medium3", "High1", "9000k@60"]
            if text == "0.9M" { return .quality(name: "900k", Bitrate(kilobitsPerSecond: 3)) }
            if text == "99M" { return .problem("must be less") }
            guard let rank = names.firstIndex(of: text) else { return .unknown }
            return .quality(name: text, Bitrate(kilobitsPerSecond: rank))
        },
        problemWithLevel: { $0 == "9000k@60" && $1 == "720p" ? "does not fit" : nil })
    static let vocabulary = DeviceVocabulary(videoQualities: qualities, audioQualities: ["High1", "High2"]) {
        $0 == "640x480" || $0 == "720p" ? nil : "is no size"
    }

    private func device(_ text: String) throws -> Decoded<DeviceDescription> {
        DeviceDescription.decode(try JSONValue(parsing: Array(text.utf8)), vocabulary: Self.vocabulary)
    }

    private func board(_ text: String) throws -> Decoded<BoardDescription> {
        BoardDescription.decode(try JSONValue(parsing: Array(text.utf8)))
    }

    private func network(_ text: String) throws -> Decoded<NetworkDescription> {
        NetworkDescription.decode(try JSONValue(parsing: Array(text.utf8)))
    }

    private func short(_ faults: [DescriptionFault]) -> [String] {
        faults.map { "\($0.position) \($0.keyPath) \($0.kind)" }
    }

    @Test func emptyDeviceFileIsValid() throws {
        let result = try device("{}")
        #expect(result.faults == [])
        #expect(result.value == DeviceDescription())
        #expect(result.value?.reconnectAttempts == nil)
    }

    @Test(
        arguments: [
            (
                #""cameras": {"front": "imx708", "back": "/dev/video0", "test": "synthetic"}"#,
                ["front", "back", "test"]
            ),
            (
                #""camera": "back", "cameras": {"front": "imx708", "back": "/dev/video0", "test": "synthetic"}"#,
                ["back", "test", "front"]
            ),
            (#""camera": "auto", "cameras": {"front": "imx708"}"#, ["front"]), (#""cameras": {}"#, []),
            (#""cameras": null"#, []),
        ])
    func camerasAreInFileOrderFromTheStartingOne(text: String, names: [String]) throws {
        let result = try device("{\(text)}")
        #expect(result.faults == [] && result.value?.cameras.map(\.name) == names)
        #expect(result.value?.camera == "auto")
    }

    @Test(
        arguments: [
            (#"{"cameras": {"Front": "imx708"}}"#, "1:13 cameras invalidValue"),
            (#"{"cameras": {"next": "imx708"}}"#, "1:13 cameras invalidValue"),
            (#"{"cameras": {"front": 1}}"#, "1:23 cameras.front wrongType"),
            (#"{"cameras": ["front"]}"#, "1:13 cameras wrongType"),
            (#"{"camera": "frnot", "cameras": {"front": "a", "back": "b"}}"#, "1:12 camera invalidValue"),
            (
                #"{"cameras": {"a": "a", "b": "a", "c": "a", "d": "a", "e": "a", "f": "a", "g": "a", "h": "a", "i": "a"}}"#,
                "1:13 cameras invalidValue"
            ),
        ])
    func wrongCamerasAreReported(text: String, fault: String) throws {
        #expect(short(try device(text).faults) == [fault])
    }

    @Test func misspelledCameraIsAnsweredWithASuggestion() throws {
        let faults = try device(#"{"camera": "frnot", "cameras": {"front": "a", "back": "b"}}"#).faults
        #expect(faults.first?.problem == "must be one of \"cameras\": front, back; did you mean \"front\"?")
    }

    @Test func everyDeviceKeyIsRead() throws {
        let result = try device(
            """
            {"camera": "imx708", "cameraTuning": "imx219_noir", "dimension": "720p", "orientation": 180, "mirrored": true,
             "quality": {"lowest": "Low2", "start": "Medium3", "highest": "High1", "resize": "restart",
                         "smallestSize": "720p"},
             "audio": {"source": "silence", "quality": "High1",
                       "sources": [{"device": "hw:1", "gain": -6.5, "mute": true}, {"device": "hw:Mic,2"}]},
             "reconnectAttempts": 5,
             "buffer": {"seconds": 2.5, "lowThreshold": 0.7, "highThreshold": 0.8},
             "statusInterval": 10, "connectTimeout": 8, "handshakeTimeout": 20, "console": false, "page": "https", "startAtBoot": true,
             "torch": "auto",
             "lowLight": "slow", "mains": "60", "timecode": true, "doublePress": "snapshot", "preview": {"display": "hdmi", "camera": "always"},
             "snapshots": {"folder": "/media/stick", "count": 5, "megabytes": 100, "quality": 75, "flash": "auto", "size": "stream"},
             "record": {"when": "always", "folder": "/media/stick", "fileSeconds": 600, "minutes": 90, "diskPercent": 50, "keep": "all"},
             "filters": [{"filter": "text", "text": "Studio {time}", "size": 0.1, "outline": 1e-5}, {"filter": "gray"}]}
            """)
        #expect(result.faults == [])
        var expected = DeviceDescription()
        expected.camera = "imx708"
        expected.cameraTuning = "imx219_noir"
        expected.dimension = "720p"
        expected.orientation = .upsideDown
        expected.mirrored = true
        expected.lowestQuality = "Low2"
        expected.startQuality = "Medium3"
        expected.highestQuality = "High1"
        expected.resize = .restart
        expected.smallestSize = "720p"
        expected.audioSource = .silence
        expected.audioQuality = "High1"
        expected.microphones = [.init(device: "hw:1", .init(gain: -6.5, isMuted: true)), .init(device: "hw:Mic,2")]
        expected.reconnectAttempts = 5
        expected.bufferDuration = 2.5
        expected.bufferLowThreshold = 0.7
        expected.bufferHighThreshold = 0.8
        expected.statusInterval = .seconds(10)
        expected.connectTimeout = .seconds(8)
        expected.handshakeTimeout = .seconds(20)
        expected.console = false
        expected.startAtBoot = true
        expected.page = .https
        expected.torch = .auto
        expected.lowLight = .slow
        expected.mains = .hertz60
        expected.timecode = true
        expected.doublePress = .snapshot
        expected.preview.display = .hdmi
        expected.preview.camera = .always
        expected.snapshots.folder = "/media/stick"
        expected.snapshots.count = 5
        expected.snapshots.megabytes = 100
        expected.snapshots.quality = 75
        expected.snapshots.flash = .auto
        expected.snapshots.size = .stream
        expected.record.when = .always
        expected.record.folder = "/media/stick"
        expected.record.fileSeconds = 600
        expected.record.minutes = 90
        expected.record.diskPercent = 50
        expected.record.keep = .all
        expected.filters = try FilterChain(parsing: ["text,text=Studio {time},size=0.1,outline=0.00001", "gray"])
        #expect(result.value == expected)
    }

    @Test(arguments: [
        (#"{"quality": {"start": "High1"}}"#, "Low1", "High1", "High1"),
        (#"{"quality": {"lowest": "Medium3"}}"#, "Medium3", "Medium3", "Medium3"),
        (#"{"quality": {"highest": "Low2"}}"#, "Low1", "Low2", "Low2"),
        (#"{"quality": {}}"#, "Low1", "Medium1", "Medium3"),
        (#"{"quality": {"highest": "0.9M"}}"#, "Low1", "Medium1", "900k"),
        (#"{"quality": {"highest": {"kbit": 900}}}"#, "Low1", "Medium1", "900k"),
        (
            #"{"quality": {"start": {"kbit": 900}, "highest": {"kbit": 9000, "framesPerSecond": 60}}}"#, "Low1",
            "900k", "9000k@60"
        ),
    ])
    func absentQualitiesFollowTheGivenOnes(text: String, lowest: String, start: String, highest: String) throws {
        let value = try #require(try device(text).value)
        #expect([value.lowestQuality, value.startQuality, value.highestQuality] == [lowest, start, highest])
    }

    @Test func recordHasAShortForm() throws {
        for when in DeviceDescription.Record.When.allCases {
            let value = try device("{\"record\": \"\(when.rawValue)\"}").value
            #expect(value?.record.when == when)
        }
    }

    @Test(arguments: [
        (#"{"record": true}"#, "1:12 record wrongType"),
        (#"{"record": "allways"}"#, "1:12 record invalidValue"),
        (#"{"record": {"folder": "sticks"}}"#, "1:23 record.folder invalidValue"),
        (#"{"record": {"fileSeconds": 9}}"#, "1:28 record.fileSeconds invalidValue"),
        (#"{"record": {"diskPercent": 100}}"#, "1:28 record.diskPercent invalidValue"),
        (#"{"record": {"keep": "oldest"}}"#, "1:21 record.keep invalidValue"),
        (#"{"record": {"minutes": 0}}"#, "1:24 record.minutes invalidValue"),
        (#"{"dimension": "7x5"}"#, "1:15 dimension invalidValue"),
        (#"{"orientation": 45}"#, "1:17 orientation invalidValue"),
        (#"{"orientation": 360}"#, "1:17 orientation invalidValue"),
        (#"{"orientation": 90.5}"#, "1:17 orientation invalidValue"),
        (#"{"orientation": "90"}"#, "1:17 orientation wrongType"),
        (#"{"quality": {"start": "Medum1"}}"#, "1:23 quality.start invalidValue"),
        (#"{"quality": {"lowest": "High1", "highest": "Low1"}}"#, "1:13 quality invalidValue"),
        (#"{"quality": "Low1"}"#, "1:13 quality wrongType"),
        (#"{"quality": {"highest": 4500}}"#, "1:25 quality.highest wrongType"),
        (#"{"quality": {"highest": "99M"}}"#, "1:25 quality.highest invalidValue"),
        (#"{"quality": {"highest": {"kbit": 149}}}"#, "1:34 quality.highest.kbit invalidValue"),
        (#"{"quality": {"highest": {"kbit": "900"}}}"#, "1:34 quality.highest.kbit wrongType"),
        (#"{"quality": {"highest": {"framesPerSecond": 30}}}"#, "1:25 quality.highest.kbit missing"),
        (
            #"{"quality": {"highest": {"kbit": 900, "framesPerSecond": 23}}}"#,
            "1:58 quality.highest.framesPerSecond invalidValue"
        ),
        (#"{"quality": {"highest": {"kbit": 900, "fps": 30}}}"#, "1:39 quality.highest.fps unknownKey"),
        (
            #"{"dimension": "720p", "quality": {"highest": {"kbit": 9000, "framesPerSecond": 60}}}"#,
            "1:46 quality.highest invalidValue"
        ),
        (#"{"quality": {"lowest": {"kbit": 9000, "framesPerSecond": 60}}}"#, "1:13 quality invalidValue"),
        (#"{"quality": {"resize": "always"}}"#, "1:24 quality.resize invalidValue"),
        (#"{"quality": {"smallestSize": "7x5"}}"#, "1:30 quality.smallestSize invalidValue"),
        (#"{"audio": {"source": "mic"}}"#, "1:22 audio.source invalidValue"),
        (#"{"audio": {"sources": "hw:1"}}"#, "1:23 audio.sources wrongType"),
        (#"{"audio": {"sources": ["hw:1"]}}"#, "1:24 audio.sources[0] wrongType"),
        (#"{"audio": {"sources": [{"gain": 3}]}}"#, "1:24 audio.sources[0].device missing"),
        (#"{"audio": {"sources": [{"device": "hw:1", "gain": 41}]}}"#, "1:51 audio.sources[0].gain invalidValue"),
        (#"{"audio": {"sources": [{"device": "hw:1", "mute": "on"}]}}"#, "1:51 audio.sources[0].mute wrongType"),
        (
            #"{"audio": {"sources": [{"device":"a"},{"device":"b"},{"device":"c"},{"device":"d"},{"device":"e"}]}}"#,
            "1:23 audio.sources invalidValue"
        ),
        (#"{"reconnectAttempts": "forever"}"#, "1:23 reconnectAttempts invalidValue"),
        (#"{"reconnectAttempts": -1}"#, "1:23 reconnectAttempts invalidValue"),
        (#"{"reconnectAttempts": 99999999999999999999}"#, "1:23 reconnectAttempts invalidValue"),
        (#"{"buffer": {"seconds": 5.01}}"#, "1:24 buffer.seconds invalidValue"),
        (#"{"buffer": {"lowThreshold": 0.75}}"#, "1:12 buffer invalidValue"),
        (#"{"statusInterval": 31}"#, "1:20 statusInterval invalidValue"),
        (#"{"connectTimeout": 0}"#, "1:20 connectTimeout invalidValue"),
        (#"{"handshakeTimeout": 61}"#, "1:22 handshakeTimeout invalidValue"),
        (#"{"console": 1}"#, "1:13 console wrongType"),
        (#"{"camera": ""}"#, "1:12 camera invalidValue"),
        (#"{"Torch": "on"}"#, "1:2 Torch unknownKey"),
        (#"{"torch": "dim"}"#, "1:11 torch invalidValue"),
        (#"{"page": "tls"}"#, "1:10 page invalidValue"),
        (#"{"flash": "auto"}"#, "1:2 flash unknownKey"),
        (#"{"controls": {"torch": "on"}}"#, "1:15 controls.torch unknownKey"),
        (#"{"controls": {"mute": true}}"#, "1:15 controls.mute unknownKey"),
        (#"{"flashLED": "on"}"#, "1:14 flashLED invalidValue"),
        (#"{"doublePress": "Pause"}"#, "1:17 doublePress invalidValue"),
        (#"{"doublePress": "zoom"}"#, "1:17 doublePress invalidValue"),
        (#"{"preview": "on"}"#, "1:13 preview invalidValue"),
        (#"{"preview": true}"#, "1:13 preview wrongType"),
        (#"{"preview": {"display": "hdmi ", "camera": "live"}}"#, "1:25 preview.display invalidValue"),
        (#"{"preview": {"display": "hdmi", "camera": "allways"}}"#, "1:43 preview.camera invalidValue"),
        (#"{"preview": {"display": "hdmi", "camera": true}}"#, "1:43 preview.camera wrongType"),
        (#"{"preview": {"camera": "always"}}"#, "1:13 preview.display missing"),
        (#"{"preview": {"disply": "hdmi"}}"#, "1:14 preview.disply unknownKey"),
        (#"{"filters": [{"text": "x"}]}"#, "1:14 filters[0].filter missing"),
        (#"{"filters": [{"filter": "smoth"}]}"#, "1:25 filters[0].filter invalidValue"),
        (#"{"filters": [{"filter": "smooth", "strength": 2}]}"#, "1:47 filters[0].strength invalidValue"),
        (#"{"filters": [{"filter": "gray", "size": 2}]}"#, "1:41 filters[0].size invalidValue"),
        (#"{"filters": [{"filter": "text"}]}"#, "1:14 filters[0].text invalidValue"),
        (
            #"{"filters": [{"filter": "text", "text": "a"}, {"filter": "text", "text": "b"}]}"#,
            "1:58 filters[1].filter invalidValue"
        ),
        (#"{"controls": {"microphone-gain": 3}}"#, "1:15 controls.microphone-gain unknownKey"),
        (#"{"filters": {"filter": "gray"}}"#, "1:13 filters wrongType"),
        (#"{"snapshots": {"count": 0}}"#, "1:25 snapshots.count invalidValue"),
        (#"{"snapshots": {"quality": 101}}"#, "1:27 snapshots.quality invalidValue"),
        (#"{"snapshots": {"folder": "snapshots"}}"#, "1:26 snapshots.folder invalidValue"),
        (#"{"snapshots": {"folder": "/media/../boot"}}"#, "1:26 snapshots.folder invalidValue"),
    ])
    func faultsOfDeviceFiles(text: String, fault: String) throws {
        let result = try device(text)
        #expect(short(result.faults) == [fault])
        #expect((result.value == nil) == !fault.hasSuffix("unknownKey"))
    }

    @Test(arguments: [
        (#"{"controls": {"torch": "on"}}"#, #"beside "controls""#),
        (#"{"controls": {"webcam": "on"}}"#, #"beside "controls""#),
        (#"{"controls": {"mute": true}}"#, #"to a microphone, in "audio""#),
        (#"{"controls": {"microphone-gain": 3}}"#, #"to a microphone, in "audio""#),
        (#"{"flash": "auto"}"#, #"into "snapshots""#),
    ])
    func misplacedKeyIsReportedWithItsPlace(text: String, place: String) throws {
        let faults = try device(text).faults
        #expect(faults.map(\.problem) == ["is unknown here and ignored; it belongs \(place)"])
    }

    @Test func previewIsGivenByItsDisplayOrAsAnObject() throws {
        let short = try #require(try device(#"{"preview": "hdmi"}"#).value).preview
        #expect(short.display == .hdmi && short.camera == .live)
        #expect(try device(#"{"preview": {"display": "hdmi"}}"#).value?.preview == short)
        #expect(try device(#"{"preview": {"display": "off", "camera": "always"}}"#).value?.preview.camera == .always)
        let mistaken = try device(#"{"preview": {"display": "hdmi", "camera": "allways"}}"#)
        #expect(mistaken.faults.first?.problem.hasSuffix(#"did you mean "always"?"#) == true)
    }

    @Test(arguments: [
        (#""webcam": "yes""#, #"must be true or false without quotes, or "ask""#),
        (#""webcam": 1"#, #"must be true or false without quotes, or "ask", not a number"#),
        (#""reconnectAttempts": "forever""#, #"must be a whole number from 0 to 1000, or "endless""#),
        (#""reconnectAttempts": 1001"#, #"must be a whole number from 0 to 1000, or "endless", not 1001"#),
        (#""reconnectAttempts": true"#, #"must be a whole number from 0 to 1000, or "endless", not true or false"#),
        (#""preview": "on""#, #"must be "off" or "hdmi", or an object in curly brackets"#),
        (#""preview": true"#, #"must be "off" or "hdmi", or an object in curly brackets, not true or false"#),
        (#""timecode": "yes""#, #"must be true or false without quotes, not text"#),
        (#""mains": 50"#, #"must be one of "auto", "50", "60", "off", not a number"#),
        (#""orientation": 360"#, "must be one of 0, 90, 180, 270, not 360"),
    ])
    func faultNamesEveryAllowedValue(key: String, problem: String) throws {
        #expect(try device("{\(key)}").faults.map(\.problem) == [problem])
    }

    @Test func everyLineHasItsOwnExample() throws {
        let examples = try ["button", "statusLED", "flashLED"].map { key in
            try board(#"{"name": "x", "\#(key)": {}}"#).faults.first?.example
        }
        #expect(examples == [#""line": "GPIO17""#, #""line": "GPIO27""#, #""line": "GPIO22""#])
        let shared = #"{"name": "x", "button": {"line": "GPIO22"}, "flashLED": {"line": "GPIO22"}}"#
        #expect(try board(shared).faults.map(\.example) == [#""flashLED": {"line": "GPIO23"}"#])
    }

    @Test(
        arguments: [
            (#"{"url": "rtmp://h/a/s"}"#, DescriptionKind.stream), (#"{"hub": 7, "title": "t"}"#, .stream),
            (#"{"wifi": []}"#, .network), (#"{"dimension": "720p", "console": true}"#, .device),
            (#"{"name": "x", "statusLED": {"line": "a"}}"#, .board),
            (#"{"console": true}"#, .device), (#"{"nothing": 1}"#, nil), ("[]", nil),
        ] as [(String, DescriptionKind?)])
    func fileIsRecognizedByItsKeys(text: String, kind: DescriptionKind?) throws {
        let json = try JSONValue(parsing: Array(text.utf8))
        #expect(DescriptionKind(recognizing: json, vocabulary: Self.vocabulary) == kind)
    }

    @Test func endlessMeansUnlimitedAttempts() throws {
        #expect(try device(#"{"reconnectAttempts": "endless"}"#).value?.reconnectAttempts == nil)
    }

    @Test func boardIsRead() throws {
        let result = try board(
            """
            {"name": "Raspberry Pi 4", "button": {"chip": "pinctrl-bcm2711", "line": "GPIO17", "activeLow": true},
             "statusLED": {"line": "GPIO27"}, "flashLED": {"line": "GPIO22"}, "encoder": "v4l2", "lens": "dw9807",
             "microphone": "hw:1", "watchdog": "/dev/watchdog", "console": "/dev/ttyAMA0",
             "restartForEncoder": true, "devicePort": {"packetBytes": 1024, "interval": 4}}
            """)
        #expect(result.faults == [])
        let value = try #require(result.value)
        #expect(value.restartForEncoder && value.devicePort?.packetBytes == 1024 && value.devicePort?.interval == 4)
        #expect(try board(#"{"name": "x", "devicePort": {"packetBytes": 3072}}"#).value?.devicePort?.interval == 1)
        #expect(try board(#"{"name": "x"}"#).value?.restartForEncoder == false)
        #expect(value.button?.chip == "pinctrl-bcm2711" && value.button?.name == "GPIO17")
        #expect(value.button?.isActiveLow == true && value.statusLED?.isActiveLow == false)
        #expect(value.encoder == .v4l2 && value.lens == "dw9807" && value.microphone == "hw:1")
        #expect(value.watchdog == "/dev/watchdog" && value.console == "/dev/ttyAMA0")
    }

    @Test(arguments: [
        (#"{}"#, "1:1 name missing"),
        (#"{"name": "x", "button": {}}"#, "1:25 button.line missing"),
        (#"{"name": "x", "button": {"line": 17}}"#, "1:34 button.line wrongType"),
        (#"{"name": "x", "button": {"line": "A"}, "flashLED": {"line": "A"}}"#, "1:52 flashLED invalidValue"),
        (#"{"name": "x", "watchdog": "watchdog"}"#, "1:27 watchdog invalidValue"),
        (#"{"name": "x", "watchdog": "/dev/../tmp/x"}"#, "1:27 watchdog invalidValue"),
        (#"{"name": "x", "console": "/dev/pts/../../tmp/x"}"#, "1:26 console invalidValue"),
        (#"{"name": "x", "encoder": "x264"}"#, "1:26 encoder invalidValue"),
        (#"{"name": "x", "devicePort": {}}"#, "1:29 devicePort.packetBytes missing"),
        (#"{"name": "x", "devicePort": {"packetBytes": 0}}"#, "1:45 devicePort.packetBytes invalidValue"),
        (
            #"{"name": "x", "devicePort": {"packetBytes": 2048, "interval": 2}}"#,
            "1:45 devicePort.packetBytes invalidValue"
        ),
        (#"{"name": "x", "restartForEncoder": 1}"#, "1:36 restartForEncoder wrongType"),
        (#"{"name": "x", "restartForEncoder": "true"}"#, "1:36 restartForEncoder wrongType"),
        (#"{"name": "x", "restartForEncoders": true}"#, "1:15 restartForEncoders unknownKey"),
    ])
    func faultsOfBoards(text: String, fault: String) throws {
        #expect(short(try board(text).faults) == [fault])
    }

    @Test func networkIsRead() throws {
        let result = try network(
            """
            {"hostName": "camera-2", "country": "de", "timeServers": ["pool.ntp.org", "10.0.0.1"],
             "timeZone": "Europe/Berlin",
             "wifi": [{"ssid": "Studio", "password": "hush-hush"}, {"ssid": "Öffentlich", "hidden": true}]}
            """)
        #expect(result.faults == [])
        let value = try #require(result.value)
        #expect(value.hostName == "camera-2" && value.country == "DE")
        #expect(value.timeServers.map(\.description) == ["pool.ntp.org", "10.0.0.1"])
        #expect(value.timeZone.name == "Europe/Berlin")
        #expect(value.wifi.map(\.ssid) == ["Studio", "Öffentlich"])
        #expect(value.wifi.map { $0.password?.revealed } == ["hush-hush", nil])
        var dumped = ""
        dump(value, to: &dumped)
        #expect(!dumped.contains("hush") && !"\(value)".contains("hush"))
        #expect(try network("{}").value == NetworkDescription())
    }

    @Test(arguments: [
        (#"{"hostName": "my camera"}"#, ["1:14 hostName invalidValue"]),
        (#"{"country": "Germany"}"#, ["1:13 country invalidValue"]),
        (#"{"timeServers": ["a", "http://b"]}"#, ["1:23 timeServers[1] invalidValue"]),
        (#"{"timeServers": ["a", 5]}"#, ["1:23 timeServers[1] wrongType"]),
        (#"{"timeZone": "Berlin"}"#, ["1:14 timeZone invalidValue"]),
        (#"{"timeZone": 1}"#, ["1:14 timeZone wrongType"]),
        (#"{"wifi": {"ssid": "a"}}"#, ["1:10 wifi wrongType"]),
        (
            #"{"country": "DE", "wifi": [7, {"ssid": ""}, {"password": "12345678"}]}"#,
            ["1:28 wifi[0] wrongType", "1:40 wifi[1].ssid invalidValue", "1:45 wifi[2].ssid missing"]
        ),
        (#"{"country": "DE", "wifi": [{"ssid": "a", "password": "short"}]}"#, ["1:54 wifi[0].password invalidValue"]),
        (#"{"wifi": [{"ssid": "a"}]}"#, ["1:1 country suspicious"]),
    ])
    func faultsOfNetworks(text: String, faults: [String]) throws {
        let result = try network(text)
        #expect(short(result.faults) == faults)
        #expect(result.faults.allSatisfy { !$0.description.contains("short") })
    }

    @Test func unknownTimeZoneNamesTheNearest() throws {
        let fault = try #require(try network(#"{"timeZone": "Berlin"}"#).faults.first)
        #expect(fault.problem == #"is not a name of the tz database; did you mean "Europe/Berlin"?"#)
        #expect(fault.example == #""timeZone": "Europe/Berlin""#)
        #expect(try network(#"{"timeZone": "Berlin"}"#).goodPart?.timeZone == .utc)
    }

    @Test func timeZoneDoesNotConcernTheConnection() throws {
        let studio = try #require(try network(#"{"hostName": "studio"}"#).value)
        let zoned = try #require(try network(#"{"hostName": "studio", "timeZone": "Asia/Tokyo"}"#).value)
        #expect(studio != zoned && studio.connects(like: zoned))
        #expect(!studio.connects(like: NetworkDescription()))
    }

    @Test func wrongKeyKeepsTheRestOfANetwork() throws {
        let result = try network(
            #"{"hostName": "my camera", "country": "DE", "wifi": [{"ssid": ""}, {"ssid": "Studio"}], "timeServers": [5, "a"]}"#
        )
        #expect(result.value == nil && result.errors.count == 3)
        let part = try #require(result.goodPart)
        #expect(part.hostName == "tallycam" && part.country == "DE" && part.wifi.map(\.ssid) == ["Studio"])
        #expect(part.timeServers.map(\.description) == ["a"])
    }
}
