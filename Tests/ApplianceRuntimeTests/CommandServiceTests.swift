import ApplianceLogic
import Controls
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime
@testable import CommandChannels

/// Askers of every form use the same entry point.
@Suite(.serialized) struct CommandServiceTests {
    /// A new kind of asker, as a web page or MQTT would be.
    private final class Visitor {
        private let form: ReaderForm
        private(set) var answers: [(isGood: Bool, refusal: ApplianceRefusal?, text: String)] = []

        init(reading form: ReaderForm) { self.form = form }

        var asker: CommandAsker {
            CommandAsker(on: .socket, form: form) { [weak self] answer, form in
                let refusal: ApplianceRefusal? = if case .failed(let refusal, _) = answer { refusal } else { nil }
                let text = String(decoding: answer.content(as: form), as: UTF8.self)
                self?.answers.append((answer.isGood, refusal, text))
            }
        }
    }

    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench", "flashLED": {"line": "flash"}}"#) }

    /// Does the main thread's work until the condition is true.
    private func turn(_ device: ApplianceDevice, until condition: () -> Bool) throws {
        let limit = MonotonicClock.now() + .seconds(20)
        while !condition() {
            try #require(MonotonicClock.now() < limit)
            for report in device.stream.reports.takeAll() { device.supervisor.reported(report) }
            for report in device.card.reports.takeAll() { device.cardReported(report) }
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
    }

    /// - Parameter body: receives the device and its live stream.
    private func live(_ body: (ApplianceDevice, ScriptedStreams.Run) throws -> Void) throws {
        try time.run {
            let device = try camera.makeDevice()
            device.commands.take(.start, from: Visitor(reading: .text).asker)
            try turn(device) { camera.streams.runs.count == 1 }
            camera.streams.runs[0].goLive()
            try turn(device) { device.appliance.state == .live }
            try body(device, camera.streams.runs[0])
            device.commands.take(.stop, from: Visitor(reading: .text).asker)
            try turn(device) { !device.stream.isRunning }
        }
    }

    @Test func newKindOfAskerReadsTheStatusInItsForm() throws {
        try time.run {
            let device = try camera.makeDevice()
            let (page, person) = (Visitor(reading: .json), Visitor(reading: .text))
            for visitor in [page, person] { device.commands.take(.status(nil), from: visitor.asker) }
            #expect(page.answers.map(\.text.first) == ["{"])
            #expect(person.answers.map { $0.text.hasPrefix("state:    ready\n") } == [true])
            // A command may request another form.
            device.commands.take("status json", from: person.asker)
            #expect(person.answers.last?.text.hasPrefix(#"{"state":"ready""#) == true)
            device.commands.take("stauts", from: page.asker)
            #expect(page.answers.last?.refusal == .command(.command(.unknown("stauts", on: .socket))))
            #expect(page.answers.last?.text.hasPrefix(#"{"error":"unknownCommand","text":""#) == true)
        }
    }

    @Test func simultaneousAskersGetTheSameAnswerInTheirOwnForms() throws {
        try live { device, _ in
            let (page, person) = (Visitor(reading: .json), Visitor(reading: .text))
            for visitor in [page, person] { device.commands.take(.controls(nil), from: visitor.asker) }
            #expect(page.answers.isEmpty && person.answers.isEmpty && device.commands.pending.count == 2)
            try turn(device) { device.commands.pending.count == 0 }
            #expect(page.answers.map { $0.text.hasPrefix("[{") } == [true])
            #expect(person.answers.map { $0.text.contains("zoom") && !$0.text.contains("{") } == [true])
        }
    }

    @Test func lostAskerLeavesNothingBehind() throws {
        try live { device, _ in
            do {
                let visitor = Visitor(reading: .text)
                device.commands.take(.controls(nil), from: visitor.asker)
            }
            #expect(device.commands.pending.count == 1)
            try turn(device) { device.commands.pending.count == 0 }
        }
    }

    @Test func lateAnswerOfTheStreamIsIgnored() throws {
        try live { device, run in
            run.changeAnswer.withLock { $0 = .none }
            let visitor = Visitor(reading: .text)
            device.commands.take("set zoom 2", from: visitor.asker)
            let deadline = try #require(device.commands.nextDeadline)
            device.commands.timeReached(now: deadline)
            #expect(visitor.answers.map(\.refusal) == [.noAnswerYet])
            device.commands.streamAnswered(CommandID(1), .done(["zoom 2"]))
            #expect(visitor.answers.count == 1 && device.commands.pending.count == 0)
        }
    }

    @Test func endOfTheStreamAnswersItsPendingCommands() throws {
        try live { device, run in
            run.changeAnswer.withLock { $0 = .none }
            let visitors = (0..<3).map { _ in Visitor(reading: .text) }
            device.commands.take("set zoom 2", from: visitors[0].asker)
            device.commands.take("snapshot send", from: visitors[1].asker)
            device.commands.take("pause on", from: visitors[2].asker)
            #expect(device.commands.pending.count == 3)
            run.end(nil)
            try turn(device) { !device.stream.isRunning }
            // The pause applies to the next stream.
            #expect(visitors.map { $0.answers.map(\.refusal) } == [[.streamEnded], [.snapshot(.streamEnded)], [nil]])
            #expect(device.commands.pending.count == 0)
        }
    }

    @Test func commandsBeyondTheTableAreRefused() throws {
        try live { device, run in
            run.changeAnswer.withLock { $0 = .none }
            let visitor = Visitor(reading: .text)
            for _ in 0..<PendingCommands.limit { device.commands.take("set zoom 2", from: visitor.asker) }
            #expect(visitor.answers.isEmpty)
            device.commands.take("set zoom 2", from: visitor.asker)
            #expect(visitor.answers.map(\.refusal) == [.tooManyCommands])
            #expect(run.controlRequests.count <= PendingCommands.limit)
        }
    }
}
