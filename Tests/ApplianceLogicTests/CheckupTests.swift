import Settings
import Testing

@testable import ApplianceLogic

/// What `doctor` says about what it has found.
@Suite struct CheckupTests {
    private static let webcam = ListedDevice("/dev/video0", label: "USB Camera")
    private static let module = ListedDevice(
        "/base/soc/i2c0mux/i2c@1/imx708@1a", label: "imx708", aliases: ["back"])
    private static let microphone = ListedDevice("hw:seeed,0", label: "seeed-2mic", aliases: ["hw:1,0"])

    private static let findings: [CheckupFinding] = [
        .card(CardFinding(directory: "/boot")),
        .network(NetworkFinding(linksUp: ["eth0"], address: "10.0.0.7", hasDefaultRoute: true)),
        .time(TimeFinding(.timeServer, isPlausible: true, text: "2026-11-26T06:00:00Z", isNeeded: true)),
        .nameLookup(.found(host: "live.example.com", addresses: ["192.0.2.1"])),
        .server(.reached(peer: "192.0.2.1:443", tls: "TLSv1.3")),
        .key(KeyFinding(.separate, isExample: false, .unknown)),
        .camera(.present(DeviceList([module]), wanted: [])),
        .encoder(EncoderFinding(hardware: ["bcm2835-codec (/dev/video11)"])),
        .microphone(MicrophoneFinding(.auto, wanted: [], present: DeviceList([microphone]))),
        .button(LineFinding("button", name: "GPIO17")),
        .light([LineFinding("statusLED", name: "GPIO27"), LineFinding("flashLED", name: nil)]),
        recording(.folder("/run/media/sda1/recordings", freeByteCount: 12_340_000_000)),
    ]

    private static func recording(
        _ place: RecordingFinding.Place, _ when: DeviceDescription.Record.When = .live, keepsAll: Bool = false,
        skipped: [String] = []
    ) -> CheckupFinding {
        var wanted = DeviceDescription.Record()
        wanted.when = when
        wanted.keep = keepsAll ? .all : .newest
        return .recording(RecordingFinding(wanted, place, skipped: skipped))
    }

    // MARK: Order

    @Test func linesLeaveInTheOrderOfTheSteps() {
        var checkup = Checkup()
        var shown: [[CheckupStep]] = []
        for index in [2, 0, 1, 11, 10, 9, 8, 7, 6, 5, 4, 3] {
            shown.append(checkup.found(Self.findings[index]).map(\.step))
        }
        #expect(shown.filter { !$0.isEmpty }.map(\.count) == [1, 2, 9])
        #expect(shown.flatMap { $0 } == CheckupStep.allCases)
        #expect(checkup.isComplete && checkup.openSteps.isEmpty)
        #expect(checkup.summary == CheckupSummary(problems: [], warnings: [], unchecked: []))
    }

    @Test func secondFindingOfAStepIsIgnored() {
        var checkup = Checkup()
        #expect(checkup.found(.notChecked(.card, .late(after: .seconds(5)))).map(\.result) == [.problem])
        #expect(checkup.found(Self.findings[0]).isEmpty)
        #expect(checkup.summary.problems == [.card])
        #expect(checkup.openSteps.first == .network)
    }

    // MARK: Judgement

    private static let judgements: [(CheckupFinding, CheckupResult)] = [
        (.card(folderless), .problem), (.card(unwritable), .problem),
        (.network(NetworkFinding(linksUp: [], address: nil, hasDefaultRoute: false)), .problem),
        (.network(NetworkFinding(linksUp: ["eth0"], address: nil, hasDefaultRoute: false)), .problem),
        (.network(NetworkFinding(linksUp: ["eth0"], address: "10.0.0.7", hasDefaultRoute: false)), .warning),
        (
            .network(
                NetworkFinding(
                    linksUp: ["eth0"], address: "10.0.0.7", hasDefaultRoute: true,
                    wirelessProblem: "the password is wrong")),
            .warning
        ),
        (.time(TimeFinding(.awaited, isPlausible: true, text: "2026", isNeeded: true)), .warning),
        (.time(TimeFinding(.awaited, isPlausible: false, text: "1970", isNeeded: true)), .problem),
        (.time(TimeFinding(.system, isPlausible: false, text: "1970", isNeeded: false)), .warning),
        (.nameLookup(.failed(reason: "not found")), .problem), (.notChecked(.nameLookup, .addressGiven), .notChecked),
        (.server(.failed(reason: "refused", isCertificate: false)), .problem),
        (.server(.failed(reason: "expired", isCertificate: true)), .problem),
        (.server(.live(destination: "rtmp://127.0.0.1/live/***")), .ok),
        (.notChecked(.server, .nameNotFound), .notChecked),
        (.key(KeyFinding(.inURL, isExample: true, .unknown)), .problem),
        (.key(KeyFinding(.separate, isExample: false, .refused(reason: "no such stream"))), .problem),
        (.key(KeyFinding(.signature, isExample: false, .accepted)), .ok),
        (.camera(.inUse(name: "stage", problem: nil)), .ok),
        (.camera(.inUse(name: "stage", problem: "gone")), .problem),
        (.camera(.present(DeviceList(), wanted: [])), .problem),
        (.camera(.present(DeviceList(), wanted: ["synthetic"])), .ok),
        (.camera(.present(DeviceList([module, webcam]), wanted: ["back", "/dev/video0", "synthetic"])), .ok),
        (.camera(.present(DeviceList([module]), wanted: ["/dev/video0"])), .problem),
        (.camera(.present(DeviceList(notes: ["image:a.png: no such file"]), wanted: ["image:a.png"])), .problem),
        (.camera(.present(DeviceList([module], notes: ["/dev/video1 does not answer"]), wanted: [])), .warning),
        (.encoder(EncoderFinding()), .ok), (.encoder(EncoderFinding(wanted: .v4l2)), .problem),
        (.encoder(EncoderFinding(unanswered: ["/dev/video11 hangs"])), .warning),
        (.encoder(EncoderFinding(unanswered: ["/dev/video11 hangs"], wanted: .v4l2)), .problem),
        (.encoder(EncoderFinding(inUse: "openh264")), .ok),
        (.encoder(EncoderFinding(inUse: "openh264", deadReason: "dead until the restart")), .warning),
        (.microphone(MicrophoneFinding(.none, wanted: [], present: DeviceList())), .ok),
        (.microphone(MicrophoneFinding(.auto, wanted: [], present: DeviceList())), .warning),
        (.microphone(MicrophoneFinding(.microphone, wanted: [], present: DeviceList())), .problem),
        (.microphone(MicrophoneFinding(.auto, wanted: ["hw:2"], present: DeviceList([microphone]))), .problem),
        (.microphone(MicrophoneFinding(.auto, wanted: ["plughw:CARD=seeed"], present: DeviceList([microphone]))), .ok),
        (
            .microphone(
                MicrophoneFinding(
                    .auto, wanted: ["hw:1"], present: DeviceList([microphone]), isInUse: true, problem: "unplugged")),
            .problem
        ),
        (.button(LineFinding("button", name: nil)), .notChecked),
        (.button(LineFinding("button", name: "GPIO17", .fails("there is no such line"))), .problem),
        (.light([LineFinding("statusLED", name: "GPIO27", .taken(by: "gpioset"))]), .warning),
        (recording(.none(reason: "read-only"), .off), .ok), (recording(.inUse(file: "/state/recordings/1.mp4")), .ok),
        (recording(.none(reason: "read-only"), .always), .problem),
        (recording(.none(reason: "read-only"), .command), .warning),
        (recording(.folder("/state/recordings", freeByteCount: 1 << 30), skipped: ["read-only"]), .warning),
        (recording(.folder("/state/recordings", freeByteCount: 30 << 20), keepsAll: true), .problem),
        (recording(.folder("/state/recordings", freeByteCount: 30 << 20)), .ok),
        (.notChecked(.recording, .late(after: .seconds(5))), .problem),
        (.notChecked(.camera, .late(after: .seconds(8))), .problem),
    ]

    private static var folderless: CardFinding {
        var finding = CardFinding(directory: "/nowhere")
        finding.isFolder = false
        return finding
    }

    private static var unwritable: CardFinding {
        var finding = CardFinding(directory: "/boot")
        finding.writeFailures = ["open /boot/x: Input/output error (EIO)"]
        return finding
    }

    @Test(arguments: judgements.indices) func findingIsJudged(_ index: Int) {
        let (finding, result) = Self.judgements[index]
        #expect(finding.line.result == result, "\(finding.line)")
    }

    @Test(arguments: judgements.indices) func whatIsNotOkHasANextStep(_ index: Int) {
        let line = Self.judgements[index].0.line
        switch line.result {
        case .ok, .notChecked: #expect(line.advice == nil, "\(line)")
        case .warning, .problem: #expect(line.advice?.isEmpty == false, "\(line)")
        }
    }

    @Test func goodFindingsAreOk() {
        #expect(Self.findings.allSatisfy { $0.line.result == .ok })
        #expect(Self.findings.map(\.step) == CheckupStep.allCases)
    }

    @Test func faultyFileIsQuotedWithItsPlace() {
        var finding = CardFinding(directory: "/boot")
        finding.faults = ["url", "key"].map { key in
            FileFault(
                kind: .streamFile, file: "stream.json",
                fault: DescriptionFault(kind: .missing, keyPath: key, position: .start, problem: "is missing"))
        }
        let line = CheckupFinding.card(finding).line
        #expect(line.result == .problem)
        #expect(line.text == "stream.json:1:1: url: is missing (and 1 more)")
        #expect(line.advice == #"repair or replace the file; see docs/trouble/light.md, "2 blinks""#)
    }

    // MARK: Words

    @Test func lineHasResultAndNextStep() {
        let line = CheckupLine(.nameLookup, .problem, "a\nb", advice: "look again")
        #expect("\(line)" == "name lookup:  problem: a b; next: look again")
        #expect("\(CheckupLine(.card, .ok, "fine"))" == "card:         ok: fine")
    }

    @Test func summaryCountsAndNamesTheFirstProblem() {
        let bad = CheckupSummary(problems: [.server, .camera], warnings: [.time], unchecked: [.key])
        #expect(!bad.isGood)
        #expect(
            "\(bad)"
                == "summary:      2 problems (server, camera); 1 warning (time); 1 not checked; start with server")
        let good = CheckupSummary(problems: [], warnings: [], unchecked: [])
        #expect(good.isGood && "\(good)" == "summary:      no problem found")
    }

    // MARK: Names

    @Test(arguments: [
        ("hw:1", "hw:1,0"), ("hw:1,0", "hw:1,0"), ("plughw:CARD=seeed,DEV=0", "hw:seeed,0"),
        ("hw:seeed,2", "hw:seeed,2"),
        ("default", nil), ("hw:", nil), ("hw:1,0,0", nil), ("", nil), ("hw", nil),
    ])
    func microphoneNameIsNormalized(_ name: String, _ normalized: String?) {
        #expect(MicrophoneName.normalized(name) == normalized)
    }
}
