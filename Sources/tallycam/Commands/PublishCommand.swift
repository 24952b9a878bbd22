import DisplayOutput
import FilePublishing
import Glibc
import LinuxIO
import MachineDevices
import Media
import Publishing
import StreamLogic
import Terminal

/// `tallycam publish`.
func runPublish(_ arguments: [String]) throws -> ExitStatus {
    guard let parsed = try parseOptions(arguments, PublishArguments.options, usage: PublishArguments.usage) else {
        return .success
    }
    let console = try Console(eventStyle: try eventStyle(parsed))
    defer { console.finish() }
    let asked: PublishArguments
    do {
        asked = try PublishArguments(parsed)
    } catch {
        let failure = CommandFailure(error)
        // Size and sample rate are often chosen by programs, which read events.
        if failure.code != nil { console.emit(failure.event) }
        throw failure
    }
    for warning in asked.publish.warnings { console.log("warning: \(warning)") }
    let view = StreamView(console)
    do {
        if let file = asked.file {
            try FilePublisher(file, settings: asked.publish, reporter: EventSink(view.take)).run()
        } else {
            let takesCommands: Bool? = asked.publish.media.readsStandardInput ? nil : asked.takesCommands
            let display = try asked.preview.map { option in
                try Display(option) { view.take(.event(.preview($0))) }
            }
            try LiveCommand(takesCommands: takesCommands, console: console, view: view, display: display)
                .run(asked.publish)
        }
    } catch {
        let failure = CommandFailure(error)
        view.end()
        console.emit(failure.event)
        throw failure
    }
    return .success
}

/// A live stream on its own thread, and the person's interaction with it: signals, commands, the view.
private final class LiveCommand {
    private let console: Console
    private let view: StreamView
    /// `nil` without a preview.
    private let display: Display?
    private let signals: SignalFD
    private let commands: Mailbox<PublisherCommand>
    /// The failure that ended the stream, or `nil`; then nothing follows.
    private let ends: Mailbox<(any Error)?>
    /// `nil` if commands are not read from standard input.
    private let input: StandardInputCommands?
    private var transaction = ConfigurationTransaction()
    private var questionCount: UInt64 = 0

    /// - Parameter takesCommands: read commands from any standard input; `nil` if media is read from it.
    init(takesCommands: Bool?, console: Console, view: StreamView, display: Display?) throws {
        self.display = display
        self.console = console
        self.view = view
        commands = try Mailbox()
        ends = try Mailbox()
        input = takesCommands.flatMap { StandardInputCommands(isAskedFor: $0, editsLines: console.hasTerminal) }
        signals = try SignalFD([SIGINT, SIGTERM, SIGUSR1])
    }

    private enum Waited {
        case signals, ends, input
    }

    func run(_ settings: sending PublishSettings) throws {
        defer { input?.restoreTerminal() }
        var settings = settings
        settings.media.isQualityChangeable = input != nil
        settings.media.preview = display
        view.typed(prompt: input?.prompt)
        let stream = try Self.thread(
            settings, commands: commands, isWatched: console.hasTerminal || display != nil, reporter: reporter,
            ends: ends)
        var end: (any Error)?? = nil
        while end == nil {
            var waits: PollSet<Waited> = [
                .signals: signals.fileDescriptor, .ends: ends.wakeup.fileDescriptor,
                .input: input?.fileDescriptor ?? -1,
            ]
            // No event reports that the terminal was released, so check regularly.
            let pause = input?.isInBackground == true ? Duration.milliseconds(250) : nil
            try waits.wait(until: pause.map { MonotonicClock.now() + $0 })
            if waits.isReady(.input) { takeLines() }
            while let signal = signals.next() { signaled(signal) }
            end = ends.takeAll().first
        }
        stream.join()
        if case .some(.some(let error)) = end { throw error }
    }

    private var reporter: EventSink {
        guard let display else { return EventSink(view.take) }
        let words = PreviewWords(on: display)
        return EventSink { [view] message in
            view.take(message)
            words.take(message)
        }
    }

    private static func thread(
        _ settings: sending PublishSettings, commands: Mailbox<PublisherCommand>, isWatched: Bool,
        reporter: EventSink, ends: Mailbox<(any Error)?>
    ) throws -> JoinableThread {
        JoinableThread(
            try NamedThread("stream") {
                do {
                    let stream = try LiveStream(
                        settings: settings, commands: commands, isWatched: isWatched, reporter: reporter)
                    try stream.run()
                    ends.send(nil)
                } catch {
                    ends.send(error)
                }
            })
    }

    private func takeLines() {
        for action in (input?.takeLines() ?? []).flatMap({ transaction.lineReceived($0) }) {
            switch action {
            case .answer(let lines): for line in lines { console.note(line) }
            case .refuse(let refusal): console.emit(StreamEvent.refused(refusal))
            case .ask(let question, let form): ask(question, form)
            case .command(.stop): stop("stop was requested")
            case .command(let command): commands.send(command)
            }
        }
        view.typed(prompt: input?.prompt)
    }

    private func ask(_ question: StreamQuestion, _ form: AnswerForm) {
        questionCount += 1
        let id = CommandID(questionCount)
        view.expectAnswer(to: id, as: form)
        commands.send(question.command(id))
    }

    private func stop(_ reason: String) {
        console.log("\(reason): ending the stream")
        commands.send(.stop)
    }

    private func signaled(_ signal: Int32) {
        guard signal != SIGUSR1 else { return commands.send(.toggleMute) }
        stop(signal == SIGINT ? "interrupted" : "terminated")
    }
}
