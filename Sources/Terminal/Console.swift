import Glibc
import JSONText
import LinuxIO
import Media
import StreamLogic
import Synchronization

/// Standard output and standard error: events, the human log, and the live view below them.
///
/// Events go to standard output, as JSON lines or as text. With JSON there, people
/// read the same events as text on standard error. The program's last line, which names a
/// failure, is not written here: it comes for every command alike.
public final class Console: Sendable {
    public enum EventStyle: String, Sendable {
        case json, text
    }

    public let begin: MediaTimestamp
    /// Whether people look at standard error on a terminal that can move its cursor.
    public let hasTerminal: Bool
    private let eventStyle: EventStyle
    /// The two streams.
    private let output: ConsoleOutput
    /// Lines of the live view now on the screen. Holding it is the right to write.
    private let view = Mutex<[String]>([])

    public init(eventStyle: EventStyle) throws(SystemCallError) {
        self.eventStyle = eventStyle
        output = try ConsoleOutput()
        begin = MonotonicClock.now()
        hasTerminal = isTerminal(STDERR_FILENO) && !["", "dumb"].contains(environment("TERM") ?? "")
    }

    public func emit(_ event: Event) {
        let seconds = (MonotonicClock.now() - begin).inSeconds
        let line = eventStyle == .json ? jsonLine(event, at: seconds) : []
        view.withLock { view in
            erase(view)
            output.append(line, to: STDOUT_FILENO)
            if let text = event.text {
                let people = eventStyle == .json ? STDERR_FILENO : STDOUT_FILENO
                output.append(Array("\(stamp(seconds)) \(text)\n".utf8), to: people)
            }
            draw(view)
        }
    }

    /// A line where people read events, for what is no event itself.
    public func note(_ text: String) {
        let line = Array("\(stamp((MonotonicClock.now() - begin).inSeconds)) \(text)\n".utf8)
        view.withLock { view in
            erase(view)
            output.append(line, to: eventStyle == .json ? STDERR_FILENO : STDOUT_FILENO)
            draw(view)
        }
    }

    /// A line for people: warnings and progress that are no event.
    public func log(_ text: String) {
        let seconds = (MonotonicClock.now() - begin).inSeconds
        view.withLock { view in
            erase(view)
            output.append(Array("\(stamp(seconds)) \(text)\n".utf8), to: STDERR_FILENO)
            draw(view)
        }
    }

    /// Replaces the live view; no lines remove it. Does nothing without a terminal.
    public func show(view lines: [String]) {
        guard hasTerminal else { return }
        view.withLock { view in
            erase(view)
            view = lines
            draw(view)
        }
    }

    /// To be called last: waits a moment for the one who reads.
    public func finish() { output.finish(within: .milliseconds(250)) }

    private func jsonLine(_ event: Event, at seconds: Double) -> [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("t", (seconds * 1e6).rounded() / 1e6)
            object.write("code", event.code)
            object.write("name", event.name)
            for (name, value) in event.fields {
                switch value {
                case .integer(let value): object.write(name, value)
                case .number(let value): object.write(name, (value * 1e4).rounded() / 1e4)
                case .text(let value): object.write(name, value)
                case .flag(let value): object.write(name, value)
                }
            }
        }
    }

    private func stamp(_ seconds: Double) -> String { fixed(seconds, width: 8, decimals: 3) }

    private func erase(_ view: [String]) {
        guard !view.isEmpty else { return }
        // Up to the view's first line, and clear from there to the screen's end.
        output.append(Array("\u{1B}[\(view.count)A\r\u{1B}[J".utf8), to: STDERR_FILENO)
    }

    private func draw(_ view: [String]) {
        guard !view.isEmpty else { return }
        output.append(Array((view.joined(separator: "\n") + "\n").utf8), to: STDERR_FILENO)
    }
}
