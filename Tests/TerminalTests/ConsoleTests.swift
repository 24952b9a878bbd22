import Glibc
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import Terminal

@Suite("Console")
struct ConsoleTests {
    private let events: Pipe
    private let log: Pipe

    init() throws {
        events = try Pipe()
        log = try Pipe()
    }

    private func console(_ style: Console.EventStyle) throws -> Console {
        var descriptors = Console.Descriptors()
        descriptors.events = events.input
        descriptors.log = log.input
        return try Console(eventStyle: style, descriptors: descriptors)
    }

    /// All text written so far.
    private func written(_ console: Console) -> (events: String, log: String) {
        console.finishWriting()
        return (events.takeText(), log.takeText())
    }

    /// Lines without their leading time.
    private func unstamped(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            #expect(Double(words[0]) != nil, "\(line)")
            return String(words.last ?? "")
        }
    }

    @Test func scriptsGetJSONAndPeopleTheSameAsText() throws {
        let console = try console(.json)
        console.emit(StreamEvent.connected(server: "10.0.0.1:1935"))
        console.emit(StreamEvent.bufferDuration(.microseconds(1_234_567)))
        console.emit(StreamEvent.muted(true))
        console.emit(StreamEvent.failed(nil, message: "a \"quoted\" word"))
        let (events, log) = written(console)
        let lines = events.split(separator: "\n").map(String.init)
        #expect(
            lines.map { $0.drop { $0 != "," } } == [
                #","code":1001,"name":"connected","server":"10.0.0.1:1935"}"#,
                #","code":0,"name":"bufferDuration","seconds":1.2346}"#,
                #","code":0,"name":"muted","muted":true}"#,
                #","code":0,"name":"failed","message":"a \"quoted\" word"}"#,
            ])
        #expect(lines.allSatisfy { $0.hasPrefix("{\"t\":") })
        #expect(unstamped(log) == ["connected to 10.0.0.1:1935", "muted: sending silence"])
    }

    @Test func peopleGetTextOnly() throws {
        let console = try console(.text)
        console.emit(StreamEvent.publishing(destination: "server/live/***"))
        console.emit(StreamEvent.bufferDuration(.seconds(1)))
        console.note("the answer to a command")
        console.log("a warning")
        let (events, log) = written(console)
        #expect(unstamped(events) == ["live at server/live/***", "the answer to a command"])
        #expect(unstamped(log) == ["a warning"])
    }

    @Test func notesGoWherePeopleReadEvents() throws {
        let console = try console(.json)
        console.note("the answer to a command")
        let (events, log) = written(console)
        #expect(events.isEmpty)
        #expect(unstamped(log) == ["the answer to a command"])
    }

    /// Ten times a second there is an event without text for people.
    @Test func unreadEventIsNotRendered() throws {
        struct Unread: Event {
            var code: EventCode? { unread() }
            var name: String { unread() ?? "" }
            var text: String? { nil }
            var fields: [EventField] { unread() ?? [] }

            private func unread<Value>() -> Value? {
                Issue.record("nobody reads it")
                return nil
            }
        }
        let console = try console(.text)
        console.emit(Unread())
        #expect(written(console) == ("", ""))
    }

    @Test func eventsSentToAPipeDisableTheView() throws {
        setenv("TERM", "xterm", 1)
        let terminal = try PseudoTerminal()
        var descriptors = Console.Descriptors()
        (descriptors.events, descriptors.log) = (events.input, terminal.terminal)
        for (style, hasTerminal) in [(Console.EventStyle.text, false), (.json, true)] {
            let console = try Console(eventStyle: style, descriptors: descriptors)
            #expect(console.hasTerminal == hasTerminal)
            console.finishWriting()
        }
        (descriptors.events, descriptors.log) = (terminal.terminal, log.input)
        let console = try Console(eventStyle: .text, descriptors: descriptors)
        #expect(!console.hasTerminal)
        console.finishWriting()
    }

    @Test(arguments: [true, false]) func colorsAreOnlyUsedIfWanted(hasColor: Bool) throws {
        setenv("TERM", "xterm", 1)
        let terminal = try PseudoTerminal()
        var descriptors = Console.Descriptors()
        (descriptors.events, descriptors.log, descriptors.hasColor) = (terminal.terminal, terminal.terminal, hasColor)
        let console = try Console(eventStyle: .text, descriptors: descriptors)
        defer { withExtendedLifetime(terminal) { console.finishWriting() } }
        console.show(view: ["\u{1B}[1;41;97m LIVE \u{1B}[0m  \u{1B}[K12 kbit/s"])
        let drawn = terminal.takeText(until: "kbit/s\r\n")
        #expect(
            drawn
                == (hasColor
                    ? "\u{1B}[1;41;97m LIVE \u{1B}[0m  \u{1B}[K12 kbit/s\r\n" : " LIVE   \u{1B}[K12 kbit/s\r\n"))
    }

    @Test func lineOnATerminalWrapsAtWords() throws {
        let terminal = try PseudoTerminal(columns: 40)
        var descriptors = Console.Descriptors()
        (descriptors.events, descriptors.log) = (terminal.terminal, terminal.terminal)
        let console = try Console(eventStyle: .text, descriptors: descriptors)
        defer { withExtendedLifetime(terminal) { console.finishWriting() } }
        console.note("the link to the network is down; the stream waits for its return")
        let lines = terminal.takeText(until: "return\r\n").split(separator: "\r\n").map(String.init)
        #expect(
            lines.map { String($0.dropFirst(9)) } == [
                "the link to the network is", "down; the stream waits for its", "return",
            ])
        console.write(json: [], line: "+1.0s the link to the network is down, so wait")
        let written = terminal.takeText(until: "wait\r\n")
        #expect(written == "+1.0s the link to the network is down,\r\n      so wait\r\n")
    }

    @Test func noViewWithoutATerminal() throws {
        let console = try console(.text)
        #expect(!console.hasTerminal)
        console.show(view: ["live"])
        #expect(written(console) == ("", ""))
    }

    /// Nothing is lost if the thread has not run yet: a file always accepts more.
    @Test func endWaitsForItsThreadAsLongAsTheOutputTakesMore() throws {
        let directory = try TemporaryDirectory()
        let output = try OwnedFileDescriptor(opening: "\(directory.path)/output", flags: O_CREAT | O_RDWR)
        let console = try ConsoleOutput(log: output.rawValue)
        let line = Array(repeating: UInt8(ascii: "x"), count: 1000)
        for _ in 0..<1000 { console.append(line, to: output.rawValue) }
        console.finish(patience: .zero)
        #expect(lseek(output.rawValue, 0, SEEK_END) == 1_000_000)
    }

    @Test func endDoesNotWaitForAnOutputThatIsNotRead() throws {
        let console = try ConsoleOutput(log: log.input)
        for _ in 0..<200 { console.append(Array(repeating: 0x78, count: 1000), to: events.input) }
        console.finish(patience: .milliseconds(10))
        var inPipe: Int32 = 0
        #expect(ioctl(events.descriptor, UInt(FIONREAD), &inPipe) == 0 && inPipe < 200_000)
        // The thread continues as soon as the pipe is read.
        var received = 0
        while received < 200_000 {
            let text = events.takeText(waiting: .seconds(60))
            try #require(!text.isEmpty)
            received += text.utf8.count
        }
    }

    @Test func blockedReaderDelaysNothing() throws {
        let console = try console(.text)
        let line = String(repeating: "x", count: 1000)
        let start = MonotonicClock.now()
        for _ in 0..<3000 { console.note(line) }
        #expect(MonotonicClock.now() - start < .seconds(60))
        let end = try EventFD()
        let reader = JoinableThread(
            try NamedThread("reader") { [events] in
                while !end.isSignaled(until: .zero) { _ = events.takeText(waiting: .milliseconds(20)) }
            })
        console.finishWriting()
        end.signal()
        reader.join()
        let log = log.takeText(waiting: .seconds(5))
        let lost = log.split(separator: "\n").reduce(0) { sum, line in
            #expect(line.hasPrefix("tallycam: ") && line.hasSuffix(" lines dropped: the output is not being read"))
            return sum + (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
        }
        // A megabyte is waiting, and a pipe's capacity is in flight.
        #expect((1700..<2100).contains(lost), "\(lost)")
    }
}
