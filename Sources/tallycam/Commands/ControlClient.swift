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

private func runPlain(_ command: String, _ arguments: [String]) throws -> ExitStatus {
    let options = [ApplianceSettings.socketOption]
    guard let parsed = try parseOptions(arguments, options, usage: "tallycam \(command) [OPTION...]") else {
        return .success
    }
    return try ask(command, parsed)
}

private let patience = Duration.seconds(10)

private func ask(_ command: String, _ arguments: CommandLineArguments) throws -> ExitStatus {
    write(try cameraAnswer(to: command, arguments, limit: 1 << 20), to: STDOUT_FILENO)
    return .success
}

/// - Parameter limit: of the answer, in bytes.
/// - Returns: what follows the line that says that it worked.
func cameraAnswer(to command: String, _ arguments: CommandLineArguments, limit: Int) throws -> [UInt8] {
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
        answer = try connection.readAll(limit: limit)
    } catch {
        throw CommandFailure(
            .system, "the camera does not answer at \(path): \(error.reason); is tallycam run running?")
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
