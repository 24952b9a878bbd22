import ApplianceRuntime
import CardStorage
import CommandChannels
import Filters
import Glibc
import LinuxIO
import Media
import StreamLogic
import Terminal

/// Sends a command to the running camera's control socket.
func runCameraCommand(_ row: CommandDescription, _ arguments: [String]) throws -> ExitStatus {
    switch row.name {
    case .set: return try runSet(row, arguments)
    case .filter: return try runFilter(row, arguments)
    case .snapshot: return try runSnapshot(arguments)
    case .events: return try runEvents(arguments)
    default: break
    }
    var options = [ApplianceSettings.socketOption]
    if row.forms(on: .socket).contains(where: { $0.arguments == "[json]" }) {
        options.append(CommandLineOption("json", help: "print one JSON value, for programs"))
    }
    guard let parsed = try parseOptions(arguments, options, usage: usage(of: row), operands: 0...64) else {
        return .success
    }
    let isJSON = parsed.contains("json") && parsed.operands.isEmpty
    return try ask(TypedCommand.line([row.name.rawValue] + parsed.operands + (isJSON ? ["json"] : [])), parsed)
}

private func usage(of row: CommandDescription) -> String {
    row.usages(on: .socket).map { "tallycam \($0) [OPTION...]" }.joined(separator: "\n       ")
}

/// Prints the camera's report of what it did.
private func runSet(_ row: CommandDescription, _ arguments: [String]) throws -> ExitStatus {
    let usage = usage(of: row)
    guard
        let parsed = try parseOptions(
            arguments, [ApplianceSettings.socketOption], usage: usage, operands: 2...64,
            notes: "\nNames: \(RequestedChanges.nameLines.joined(separator: "\n       "))\n")
    else { return .success }
    guard parsed.operands.count % 2 == 0 else {
        throw CommandFailure.usage("\(quoted((parsed.operands.last ?? "").prefix(60))) has no value; usage: \(usage)")
    }
    guard !parsed.operands.contains(where: { $0.isEmpty || $0.utf8.contains { $0 <= 0x20 } }) else {
        throw CommandFailure.usage("names and values must not contain spaces; usage: \(usage)")
    }
    return try ask(TypedCommand.line([row.name.rawValue] + parsed.operands), parsed)
}

/// The words are passed on unchanged: quotes within them group words, as on the console.
private func runFilter(_ row: CommandDescription, _ arguments: [String]) throws -> ExitStatus {
    let list = FilterName.allCases.map(\.rawValue).joined(separator: ", ")
    guard
        let parsed = try parseOptions(
            arguments, [ApplianceSettings.socketOption], usage: usage(of: row), operands: 1...32,
            notes: "\nFilters: \(list) (docs/reference/filters.md)\n")
    else { return .success }
    let text = parsed.operands.joined(separator: " ")
    do throws(FilterError) {
        _ = try FilterChange(parsing: text)
    } catch {
        throw CommandFailure.usage("\(error); usage: \(usage(of: row))")
    }
    return try ask("\(row.name.rawValue) \(text)", parsed)
}

private let patience = Duration.seconds(10)

func ask(_ command: String, _ arguments: CommandLineArguments) throws -> ExitStatus {
    // The socket accepts a single line.
    guard !command.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 }) else {
        throw CommandFailure.usage("a command must not contain control characters; write \\n for a line break")
    }
    do throws(CommandError) {
        _ = try TypedCommand(command, on: .socket)
    } catch {
        throw CommandFailure.usage("\(error)")
    }
    try writeOutput(fitted(try cameraAnswer(to: command, arguments, limit: 1 << 20), to: command))
    return .success
}

/// - Returns: the answer, wrapped at words if standard output is a narrow terminal.
private func fitted(_ answer: [UInt8], to command: String) -> [UInt8] {
    let words = command.split(separator: " ").map { $0.lowercased() }
    // Programs read it, and people copy it.
    guard isTerminal(STDOUT_FILENO), words.last != "json" else { return answer }
    let text = String(decoding: answer, as: UTF8.self)
    let isReport = ["status", "faults", "events"].contains(words.first)
    return Array((isReport ? WordWrap.report(text, to: STDOUT_FILENO) : WordWrap.fitted(text, to: STDOUT_FILENO)).utf8)
}

/// - Parameter limit: size of the answer in bytes.
/// - Returns: the answer after its first line, which reports success.
func cameraAnswer(to command: String, _ arguments: CommandLineArguments, limit: Int) throws -> [UInt8] {
    let path = arguments["socket"] ?? "/run/tallycam.sock"
    let answer: [UInt8]
    do throws(SystemCallError) {
        let connection = try connectLocal(path)
        do throws(SystemCallError) {
            try connection.writeAll(Array("\(command)\n".utf8))
        } catch {
            // Surplus clients are refused before their command is read; the reason can still be read.
            guard error.number == EPIPE else { throw error }
        }
        // Even if the program hangs, the kernel accepts connections to it.
        var entries = [PollEntry(connection.rawValue)]
        guard try poll(&entries, until: MonotonicClock.now() + patience) > 0 else {
            throw SystemCallError("read", number: ETIMEDOUT, subject: path)
        }
        answer = try connection.readAll(limit: limit)
    } catch {
        throw CommandFailure(noAnswerAt: path, error)
    }
    guard let end = answer.firstIndex(of: 0x0A) else {
        throw CommandFailure(.system, "the camera's answer at \(path) is cut off")
    }
    let body = answer[(end + 1)...]
    guard answer[..<end].elementsEqual("ok".utf8) else {
        throw CommandFailure(.refused, refusalText(body))
    }
    return Array(body)
}
