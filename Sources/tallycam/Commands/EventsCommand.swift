import ApplianceRuntime
import CardStorage
import CommandChannels
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
