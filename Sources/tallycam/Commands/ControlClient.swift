import ApplianceRuntime
import Filters
import Glibc
import LinuxIO
import Media
import StreamLogic

/// `tallycam status`, `start` and `stop`: ask the running camera through its Unix socket.
func runStatus(_ arguments: [String]) throws -> ExitStatus {
    let options = [ApplianceSettings.socketOption, CommandLineOption("json", help: "one JSON object")]
    guard let parsed = try parseOptions(arguments, options, usage: "tallycam status [OPTION...]") else {
        return .success
    }
    return try ask(parsed.contains("json") ? "status json" : "status", parsed)
}

func runStart(_ arguments: [String]) throws -> ExitStatus { try runPlain("start", arguments) }

func runStop(_ arguments: [String]) throws -> ExitStatus { try runPlain("stop", arguments) }

/// `tallycam set`: what it answers is what the camera says it did.
func runSet(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam set NAME VALUE [NAME VALUE...] [OPTION...]"
    guard
        let parsed = try parseOptions(
            arguments, [ApplianceSettings.socketOption], usage: usage, operands: 2...64,
            notes: "\nNames: \(RequestedChanges.nameLines.joined(separator: "\n       "))\n")
    else { return .success }
    guard parsed.operands.count % 2 == 0 else {
        throw CommandFailure.usage("\(quoted((parsed.operands.last ?? "").prefix(60))) has no value; usage: \(usage)")
    }
    guard !parsed.operands.contains(where: { $0.isEmpty || $0.utf8.contains { $0 <= 0x20 } }) else {
        throw CommandFailure.usage("neither names nor values have spaces; usage: \(usage)")
    }
    return try ask("set \(parsed.operands.joined(separator: " "))", parsed)
}

/// `tallycam controls`.
func runControls(_ arguments: [String]) throws -> ExitStatus {
    let options = [
        ApplianceSettings.socketOption,
        CommandLineOption("json", help: "a JSON array with an object for each control"),
    ]
    guard let parsed = try parseOptions(arguments, options, usage: "tallycam controls [OPTION...]") else {
        return .success
    }
    return try ask(parsed.contains("json") ? "controls json" : "controls", parsed)
}

/// `tallycam filter`.
func runFilter(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam filter NAME KEY=VALUE [KEY=VALUE...]|off [OPTION...]"
    let names = "\nFilters: \(FilterName.allCases.map(\.rawValue).joined(separator: ", ")) (docs/filters.md)\n"
    guard
        let parsed = try parseOptions(
            arguments, [ApplianceSettings.socketOption], usage: usage, operands: 1...32, notes: names)
    else { return .success }
    let command = FilterChange.command(parsed.operands[0], words: Array(parsed.operands.dropFirst()))
    do throws(FilterError) {
        _ = try FilterChange(command: command)
    } catch {
        throw CommandFailure.usage("\(error); usage: \(usage)")
    }
    guard !command.utf8.contains(where: { $0 < 0x20 }) else {
        throw CommandFailure.usage("a line break is written \\n; usage: \(usage)")
    }
    return try ask(command, parsed)
}

func runCamera(_ arguments: [String]) throws -> ExitStatus {
    let options = [ApplianceSettings.socketOption]
    let usage = "tallycam camera NAME|next [OPTION...]"
    guard let parsed = try parseOptions(arguments, options, usage: usage, operands: 1...1) else { return .success }
    // The socket takes one line of words.
    guard let name = parsed.operands.first, !name.isEmpty, !name.contains(where: \.isWhitespace) else {
        throw CommandFailure.usage("a camera's name has no spaces; usage: \(usage)")
    }
    return try ask("camera \(name)", parsed)
}

/// `tallycam pause`.
func runPause(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam pause on|off [OPTION...]"
    let options = [ApplianceSettings.socketOption]
    guard let parsed = try parseOptions(arguments, options, usage: usage, operands: 1...1) else { return .success }
    guard let word = parsed.operands.first, ["on", "off"].contains(word) else {
        throw CommandFailure.usage("pause takes on or off; usage: \(usage)")
    }
    return try ask("pause \(word)", parsed)
}

/// `tallycam webcam`.
func runWebcam(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam webcam start|stop|allow [OPTION...]"
    let options = [ApplianceSettings.socketOption]
    guard let parsed = try parseOptions(arguments, options, usage: usage, operands: 1...1) else { return .success }
    guard let word = parsed.operands.first, ["start", "stop", "allow"].contains(word) else {
        throw CommandFailure.usage("webcam takes start, stop or allow; usage: \(usage)")
    }
    return try ask("webcam \(word)", parsed)
}

private func runPlain(_ command: String, _ arguments: [String]) throws -> ExitStatus {
    let options = [ApplianceSettings.socketOption]
    guard let parsed = try parseOptions(arguments, options, usage: "tallycam \(command) [OPTION...]") else {
        return .success
    }
    return try ask(command, parsed)
}

private let patience = Duration.seconds(10)

func ask(_ command: String, _ arguments: CommandLineArguments) throws -> ExitStatus {
    try writeOutput(try cameraAnswer(to: command, arguments, limit: 1 << 20))
    return .success
}

func noAnswer(at path: String, _ error: SystemCallError) -> CommandFailure {
    CommandFailure(.system, "the camera does not answer at \(path): \(error.reason); is tallycam run running?")
}

/// - Parameter limit: of the answer, in bytes.
/// - Returns: what follows the line that says that it worked.
func cameraAnswer(to command: String, _ arguments: CommandLineArguments, limit: Int) throws -> [UInt8] {
    let path = arguments["socket"] ?? "/run/tallycam.sock"
    let answer: [UInt8]
    do throws(SystemCallError) {
        let connection = try connectLocal(path)
        do throws(SystemCallError) {
            try connection.writeAll(Array("\(command)\n".utf8))
        } catch {
            // One too many is answered before he has asked, and hears why.
            guard error.number == EPIPE else { throw error }
        }
        // A program that hangs still has its connections taken by the kernel.
        var entries = [PollEntry(connection.rawValue)]
        guard try poll(&entries, until: MonotonicClock.now() + patience) > 0 else {
            throw SystemCallError("read", number: ETIMEDOUT, subject: path)
        }
        answer = try connection.readAll(limit: limit)
    } catch {
        throw noAnswer(at: path, error)
    }
    guard let end = answer.firstIndex(of: 0x0A) else {
        throw CommandFailure(.system, "the camera's answer at \(path) is cut off")
    }
    let body = answer[(end + 1)...]
    guard answer[..<end].elementsEqual("ok".utf8) else {
        let text = String(decoding: body, as: UTF8.self)
        throw CommandFailure(.connection, String(text.split(separator: "\n").joined(separator: "; ")))
    }
    return Array(body)
}
