import ApplianceRuntime
import CardStorage
import Glibc
import LinuxIO
import Media
import StreamLogic
import Terminal

/// `tallycam events`: the last events, or each new one.
func runEvents(_ arguments: [String]) throws -> ExitStatus {
    let options = [
        CommandLineOption("follow", help: "then print each new event, until the camera's program ends"),
        CommandLineOption("json", help: "print only new events, one JSON object per line (with --follow)"),
        ApplianceSettings.socketOption,
    ]
    let usage = "tallycam events [N] [OPTION...]"
    let notes = "\nLists the last N events, 1 to 1000 (default 20); with --follow, N may be 0.\n"
    guard let parsed = try parseOptions(arguments, options, usage: usage, operands: 0...1, notes: notes) else {
        return .success
    }
    let (follows, isJSON) = (parsed.contains("follow"), parsed.contains("json"))
    let least = follows ? 0 : 1
    if let count = parsed.operands.first, !(least...1000).contains(Int(count) ?? -1) {
        throw CommandFailure.usage("N must be \(least) to 1000, not \(quoted(count.prefix(20))); usage: \(usage)")
    }
    let operand = parsed.operands.first.map { " \($0)" } ?? ""
    guard follows else {
        guard !isJSON else { throw CommandFailure.usage("--json needs --follow: the list of events is kept as text") }
        return try ask("events\(operand)", parsed)
    }
    guard !isJSON || operand.isEmpty else {
        throw CommandFailure.usage("--json does not take N: it starts with the next event; usage: \(usage)")
    }
    let command = "events follow\(isJSON ? " json" : operand)"
    try follow(command, at: parsed["socket"] ?? "/run/tallycam.sock", isJSON: isJSON)
    return .success
}

/// Writes the camera's output until the camera closes the connection or standard output is no longer read.
private func follow(_ command: String, at path: String, isJSON: Bool) throws {
    let camera = try FollowedCamera(command, at: path)
    let isWrapped = !isJSON && isTerminal(STDOUT_FILENO)
    var rest: [UInt8] = []
    var isReading = true
    while isReading, let bytes = try camera.next() {
        do throws(SystemCallError) {
            guard isWrapped else {
                try writeAll(bytes, to: STDOUT_FILENO)
                continue
            }
            rest += bytes
            guard let end = rest.lastIndex(of: 0x0A) else { continue }
            let lines = WordWrap.report(String(decoding: rest[...end], as: UTF8.self), to: STDOUT_FILENO)
            rest.removeSubrange(...end)
            try writeAll(Array(lines.utf8), to: STDOUT_FILENO)
        } catch {
            guard error.number == EPIPE else { throw CommandFailure(.system, "standard output: \(error.reason)") }
            isReading = false
        }
    }
    // The camera's output ended within a line.
    if isReading, !rest.isEmpty { try writeOutput(rest) }
}

/// A connection to the control socket that receives an answer part by part.
final class FollowedCamera {
    private let path: String
    /// How long to wait for each part after the first line; `nil` for events, which may take forever.
    private let patience: Duration?
    private let connection: OwnedFileDescriptor
    /// The first line, which reports success, until it is complete.
    private var head: [UInt8]? = []

    init(_ command: String, at path: String, patience: Duration? = nil) throws(CommandFailure) {
        self.path = path
        self.patience = patience
        do throws(SystemCallError) {
            connection = try connectLocal(path)
            try connection.writeAll(Array("\(command)\n".utf8))
        } catch {
            throw noAnswer(at: path, error)
        }
    }

    /// Waits for the next bytes after the first line.
    /// - Returns: `nil` if the camera has closed the connection or standard output is no longer read.
    func next() throws(CommandFailure) -> [UInt8]? {
        while let bytes = try read() {
            guard let known = head.map({ $0 + bytes }) else { return bytes }
            guard let end = known.firstIndex(of: 0x0A) else {
                head = known
                continue
            }
            let body = Array(known[(end + 1)...])
            if known[..<end].elementsEqual("ok".utf8) {
                head = nil
                return body
            }
            let text = String(decoding: body, as: UTF8.self)
            throw CommandFailure(.refused, String(text.split(separator: "\n").joined(separator: "; ")))
        }
        guard head == nil else { throw CommandFailure(.system, "the camera's answer at \(path) is cut off") }
        return nil
    }

    private enum Waited {
        case connection, output
    }

    private func read() throws(CommandFailure) -> [UInt8]? {
        do throws(SystemCallError) {
            var waits: PollSet<Waited> = [.connection: connection.rawValue]
            // A pipe without a reader reports that even if no event is requested.
            waits.add(.output, STDOUT_FILENO, for: [])
            let limit = (head == nil ? patience : .seconds(10)).map { MonotonicClock.now() + $0 }
            guard try waits.wait(until: limit) else {
                throw SystemCallError("read", number: ETIMEDOUT, subject: path)
            }
            guard !waits.isReady(.output) else {
                head = nil
                return nil
            }
            var block = [UInt8](repeating: 0, count: 65_536)
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try connection.read(into: bytes)
            }
            return count > 0 ? Array(block[..<count]) : nil
        } catch {
            throw noAnswer(at: path, error)
        }
    }
}
