import ApplianceLogic
import CardStorage
import DeviceStreams
import Diagnosis
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// `cameras`, `microphones` and `doctor`: what drivers, network and card answer, if they do.
@Suite(.serialized) struct DoctorTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench", "button": {"line": "button"}}"#) }

    private var questions: [DeviceList.Kind] { camera.streams.drivers.content.withLock { $0.questions } }

    private func hang(_ isHanging: Bool) { camera.streams.drivers.content.withLock { $0.isHanging = isHanging } }

    /// The answer to `doctor json`.
    private func examination() throws -> (lines: [CheckupStep: CheckupLine], summary: CheckupSummary?) {
        let answer = try camera.ask("doctor json").split(separator: "\n")
        #expect(answer.first == "ok")
        let lines = answer.compactMap { CheckupLine(jsonLine: Array($0.utf8)) }
        #expect(lines.map(\.step) == CheckupStep.allCases)
        return (
            Dictionary(uniqueKeysWithValues: lines.map { ($0.step, $0) }),
            answer.last.flatMap { CheckupSummary(jsonLine: Array($0.utf8)) }
        )
    }

    @Test func devicesAreListedAsDriversReportThem() throws {
        try time.run {
            try camera.start()
            #expect(try camera.ask("cameras") == "ok\n/dev/video7  Webcam\n")
            #expect(try camera.ask("microphones") == "ok\nhw:one,0  First\nhw:two,0  Second\n")
            #expect(
                try camera.ask("cameras json") == #"ok\#n{"name":"/dev/video7","label":"Webcam","inUse":false}\#n"#)
            try camera.end()
        }
    }

    @Test func openCameraIsNotAskedFor() throws {
        try time.run {
            try camera.write("device", #"{"cameras": {"stage": "synthetic", "back": "/dev/video0"}}"#)
            try camera.start()
            let run = try camera.liveRun { _ = try camera.ask("start") }
            run.say(.cameraSwitched(from: "stage", to: "back", after: .zero))
            try camera.waitUntil {
                try camera.ask("cameras").hasPrefix("ok\nsynthetic  stage\n/dev/video0  back  (in use)\nnote: ")
            }
            #expect(questions == [])
            #expect(try camera.ask("microphones").hasPrefix("ok\nhw:one,0  First  (in use)\n"))
            try camera.end()
        }
    }

    @Test func hangingDriverDelaysOnlyItsOwnAnswer() throws {
        try time.run {
            hang(true)
            try camera.start()
            let first = try camera.connect("cameras")
            try camera.waitUntil { questions == [.cameras] }
            #expect(try camera.ask("cameras") == refused(.listUnderWay))
            #expect(try camera.state() == "ready")
            #expect(try camera.text(on: first) == refused(.noAnswerYet))
            hang(false)
            try camera.waitUntil { try camera.ask("cameras") == "ok\n/dev/video7  Webcam\n" }
            try camera.end()
        }
    }

    @Test func doctorReportsEachStepAndTheNextOne() throws {
        try time.run {
            try camera.write("device", #"{"camera": "/dev/video7", "audio": {"source": "microphone"}}"#)
            try camera.start()
            let (lines, summary) = try examination()
            #expect(lines[.card]?.result == .ok)
            #expect(lines[.nameLookup]?.result == .notChecked)
            // Nothing listens at the server's port.
            #expect(lines[.server]?.result == .problem && summary?.problems.contains(.server) == true)
            #expect(lines[.key].map { $0.result == .ok && !$0.text.contains("/x") } == true)
            #expect(lines[.camera]?.result == .ok && lines[.microphone]?.result == .ok)
            #expect(lines[.encoder]?.text == "hardware: codec (/dev/video11)")
            #expect(lines[.button]?.result == .ok && lines[.light]?.result == .notChecked)
            #expect(camera.streams.runs.isEmpty)
            try camera.end()
        }
    }

    @Test func doctorFindsAFaultyFileAndAMissingCamera() throws {
        try time.run {
            try camera.write("stream", #"{"url": "rtmp://127.0.0.1:9/live/x", "key": ""}"#)
            try camera.write("device", #"{"camera": "/dev/video3"}"#)
            try camera.start()
            let (lines, summary) = try examination()
            #expect(lines[.card]?.text.hasPrefix("stream.json:1:") == true)
            #expect([.nameLookup, .server, .key].allSatisfy { lines[$0]?.result == .notChecked })
            #expect(summary?.problems == [.card, .camera] || summary?.problems == [.card, .network, .camera])
            try camera.end()
        }
    }

    @Test func doctorLeavesALiveStreamAlone() throws {
        try time.run {
            try camera.start()
            _ = try camera.liveRun { _ = try camera.ask("start") }
            let (lines, _) = try examination()
            #expect(lines[.server] == CheckupFinding.server(.live(destination: "rtmp://127.0.0.1:9/live/***")).line)
            #expect(lines[.key].map { $0.result == .ok && $0.text.hasSuffix("accepted it") } == true)
            #expect(lines[.camera] == CheckupFinding.camera(.inUse(name: "synthetic", problem: nil)).line)
            #expect(!questions.contains(.cameras))
            try camera.end()
        }
    }

    @Test func hangingDriverCostsADoctorOneStep() throws {
        try time.run {
            try camera.write("device", #"{"camera": "/dev/video7"}"#)
            hang(true)
            try camera.start()
            let (lines, summary) = try examination()
            #expect(lines[.camera] == CheckupFinding.notChecked(.camera, .late(after: .seconds(8))).line)
            #expect(lines[.button]?.result == .ok && summary?.isGood == false)
            // The driver keeps the thread: another examination would leave one more behind.
            #expect(try camera.ask("doctor") == refused(.doctorUnderWay))
            hang(false)
            try camera.waitUntil { try camera.ask("doctor").hasPrefix("ok\n") }
            try camera.end()
        }
    }

    @Test func secondDoctorIsAskedToWait() throws {
        try time.run {
            try camera.write("device", #"{"camera": "/dev/video7"}"#)
            hang(true)
            try camera.start()
            let first = try camera.connect("doctor")
            try camera.waitUntil { questions.contains(.cameras) }
            #expect(try camera.ask("doctor") == refused(.doctorUnderWay))
            hang(false)
            let answer = String(decoding: try camera.answer(on: first), as: UTF8.self)
            #expect(answer.hasPrefix("ok\ncard:") && answer.contains("\nsummary:"))
            try camera.end()
        }
    }

    @Test func linesSurviveTheirJSON() {
        for line in [CheckupLine(.card, .ok, "fine"), CheckupLine(.light, .problem, "\"a\"\n", advice: "b")] {
            #expect(CheckupLine(jsonLine: line.jsonLine) == line)
        }
        let summary = CheckupSummary(problems: [.nameLookup], warnings: [.time], unchecked: [])
        #expect(CheckupSummary(jsonLine: summary.jsonLine) == summary)
        #expect(CheckupLine(jsonLine: summary.jsonLine) == nil && CheckupSummary(jsonLine: Array("{}".utf8)) == nil)
    }
}
