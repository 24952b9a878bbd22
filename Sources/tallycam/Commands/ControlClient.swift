import ApplianceRuntime
import Glibc
import LinuxIO
import Media

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

private func runPlain(_ command: String, _ arguments: [String]) throws -> ExitStatus {
    let options = [ApplianceSettings.socketOption]
    guard let parsed = try parseOptions(arguments, options, usage: "tallycam \(command) [OPTION...]") else {
        return .success
    }
    return try ask(command, parsed)
}

private let patience = Duration.seconds(10)

private func ask(_ command: String, _ arguments: CommandLineArguments) throws -> ExitStatus {
    let path = arguments["socket"] ?? "/run/tallycam.sock"
    let answer: [UInt8]
    do throws(SystemCallError) {
        let connection = try connectLocal(path)
        try connection.writeAll(Array("\(command)\n".utf8))
        // A program that hangs still has its connections taken by the kernel.
        var entries = [PollEntry(connection.rawValue)]
        guard try poll(&entries, until: MonotonicClock.now() + patience) > 0 else {
            throw SystemCallError("read", number: ETIMEDOUT, subject: path)
        }
        answer = try connection.readAll(limit: 1 << 20)
    } catch {
        throw CommandFailure(
            .system, "the camera does not answer at \(path): \(error.reason); is tallycam run running?")
    }
    let text = String(decoding: answer, as: UTF8.self)
    // The first line says whether it worked.
    guard let end = text.firstIndex(of: "\n") else {
        throw CommandFailure(.system, "the camera's answer at \(path) is cut off")
    }
    let body = String(text[text.index(after: end)...])
    guard text[..<end] == "ok" else {
        throw CommandFailure(.connection, String(body.split(separator: "\n").joined(separator: "; ")))
    }
    write(Array(body.utf8), to: STDOUT_FILENO)
    return .success
}
