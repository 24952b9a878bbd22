import Glibc
import LinuxIO
import Media
import StreamLogic
import Synchronization

/// Standard output and standard error: events, the log for people, and the live view below them.
///
/// Events go to standard output, as JSON lines or as text. With JSON, people read the same events as text on standard
/// error. The program's last line, which names a failure, is written elsewhere, in the same way for every command.
public final class Console: Sendable {
    public enum EventStyle: String, Sendable {
        case json, text

        /// `--events` of commands that report events.
        package static let option = CommandLineOption(
            "events", takes: "STYLE", help: "format of standard output: text (default) or json, one object per line")
    }

    /// Where to write: the process's own streams, except in tests.
    public struct Descriptors: Sendable {
        public var events = STDOUT_FILENO
        /// For people.
        public var log = STDERR_FILENO
        /// Unless NO_COLOR is set to any value (no-color.org).
        public var hasColor = environment("NO_COLOR") ?? "" == ""

        public init() {}
    }

    public let start: MediaTimestamp
    /// Whether standard error is a terminal that can move its cursor and has no other writer. Text events sent to a
    /// pipe may be shown on the same terminal at any time.
    public let hasTerminal: Bool
    private let eventStyle: EventStyle
    private let descriptors: Descriptors
    private let output: ConsoleOutput
    /// Lines of the live view on the screen. Also serializes all writing.
    private let view = Mutex<[String]>([])

    public init(eventStyle: EventStyle, descriptors: Descriptors = Descriptors()) throws(SystemCallError) {
        self.eventStyle = eventStyle
        self.descriptors = descriptors
        output = try ConsoleOutput(log: descriptors.log)
        start = MonotonicClock.now()
        let isMixed = eventStyle == .text && isPipe(descriptors.events)
        hasTerminal = isTerminal(descriptors.log) && !isMixed && !["", "dumb"].contains(environment("TERM") ?? "")
    }

    /// - Parameter showsText: whether to show it to people as well.
    public func emit(_ event: some Event, showsText: Bool = true) {
        let seconds = (MonotonicClock.now() - start).inSeconds
        let line = eventStyle == .json ? jsonLine(event, at: seconds) : []
        let text = (showsText ? event.text : nil).map { bytes($0, at: seconds, for: people) } ?? []
        guard !line.isEmpty || !text.isEmpty else { return }
        view.withLock { view in
            erase(view)
            output.append(line, to: descriptors.events)
            output.append(text, to: people)
            draw(view)
        }
    }

    /// Like `emit`, for prepared lines.
    /// - Parameters:
    ///   - json: for programs, with its LF; only written if they read it.
    ///   - line: for people, with its time and without LF; wrapped at words on a narrow terminal.
    public func write(json: [UInt8], line: String?) {
        let text = line.map { line -> [UInt8] in
            let stamp = line.prefix { $0 != " " }
            return Array((WordWrap.fitted(line, to: people, indent: stamp.count + 1) + "\n").utf8)
        }
        view.withLock { view in
            erase(view)
            if eventStyle == .json { output.append(json, to: descriptors.events) }
            output.append(text ?? [], to: people)
            draw(view)
        }
    }

    /// A line among the events for people that is not an event itself.
    public func note(_ text: String) {
        let line = bytes(text, at: (MonotonicClock.now() - start).inSeconds, for: people)
        view.withLock { view in
            erase(view)
            output.append(line, to: people)
            draw(view)
        }
    }

    /// An unchanged line among the events for people: an answer in JSON.
    public func answer(_ line: String) {
        view.withLock { view in
            erase(view)
            output.append(Array("\(line)\n".utf8), to: people)
            draw(view)
        }
    }

    /// A line for people: warnings and progress that are not events.
    public func log(_ text: String) {
        let seconds = (MonotonicClock.now() - start).inSeconds
        view.withLock { view in
            erase(view)
            output.append(bytes(text, at: seconds, for: descriptors.log), to: descriptors.log)
            draw(view)
        }
    }

    /// Replaces the live view; an empty list removes it. Does nothing without a terminal.
    public func show(view lines: [String]) {
        guard hasTerminal else { return }
        view.withLock { view in
            erase(view)
            view = descriptors.hasColor ? lines : lines.map(Self.withoutColors)
            draw(view)
        }
    }

    /// To be called last: waits until everything is written, unless the output is not being read.
    public func finish() { output.finish(patience: .milliseconds(500)) }

    /// The terminal's width, if known.
    var columns: Int { TerminalSize(of: descriptors.log)?.columns ?? 80 }

    /// Where people read events.
    private var people: Int32 { eventStyle == .json ? descriptors.log : descriptors.events }

    /// A line with its time, wrapped at words on a narrow terminal.
    private func bytes(_ text: String, at seconds: Double, for descriptor: Int32) -> [UInt8] {
        let stamp = stamp(seconds)
        return Array((WordWrap.fitted("\(stamp) \(text)", to: descriptor, indent: stamp.count + 1) + "\n").utf8)
    }

    /// Removes the sequences for color and weight (`ESC [ ... m`); those that move the cursor stay.
    private static func withoutColors(_ line: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(line.utf8)[...]
        while let byte = rest.first {
            let parameters = rest.dropFirst(2).prefix { $0 == UInt8(ascii: ";") || (0x30...0x39).contains($0) }
            let end = rest.dropFirst(2 + parameters.count)
            if rest.starts(with: [0x1B, UInt8(ascii: "[")]), end.first == UInt8(ascii: "m") {
                rest = end.dropFirst()
            } else {
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func stamp(_ seconds: Double) -> String { fixed(seconds, width: 8, decimals: 3) }

    private func erase(_ view: [String]) {
        guard !view.isEmpty else { return }
        // Move up to the view's first line, and clear from there to the end of the screen.
        output.append(Array("\u{1B}[\(view.count)A\r\u{1B}[J".utf8), to: descriptors.log)
    }

    private func draw(_ view: [String]) {
        guard !view.isEmpty else { return }
        output.append(Array((view.joined(separator: "\n") + "\n").utf8), to: descriptors.log)
    }
}
