import Glibc
import LinuxIO
import Media
import StreamLogic
import Terminal

private struct Command: Sendable {
    let name: String
    let summary: String
    let run: @Sendable ([String]) throws -> ExitStatus
}

/// They have options of their own and work without a running camera.
private let commandsWithoutCamera: [CommandName] = [.help, .cameras, .microphones, .doctor]

/// The commands that query the running camera, from the table of commands.
private let cameraCommands = CommandDescription.all(on: .socket).filter {
    !commandsWithoutCamera.contains($0.name)
}.map { row in
    Command(name: row.name.rawValue, summary: row.summary) { try runCameraCommand(row, $0) }
}

private let firstCommands: [Command] = [
    Command(
        name: "publish", summary: "stream live video and audio, or a file, to an RTMP server", run: runPublish),
    Command(name: "receive", summary: "receive streams as an RTMP server, count and record them", run: runReceive),
    Command(
        name: "run", summary: "run the camera appliance: button, lights, console, boot partition", run: runAppliance),
]

private let lastCommands: [Command] = [
    Command(name: "network", summary: "write the system's network settings from network.json", run: runNetwork),
    Command(name: "cameras", summary: "list cameras and their features", run: runCameras),
    Command(name: "microphones", summary: "list microphones", run: runMicrophones),
    Command(name: "capture", summary: "capture frames without encoding, report timing and losses", run: runCapture),
    Command(name: "recordings", summary: "list recordings, and write what servers lack of them", run: runRecordings),
    Command(name: "doctor", summary: "check the device part by part; say what to do next", run: runDoctor),
    Command(name: "check", summary: "report every fault in the card's JSON files", run: runCheck),
]

private var commands: [Command] { firstCommands + cameraCommands + lastCommands }

/// Runs the command named in the arguments, and reports a failure in one line.
func run(_ arguments: [String]) -> ExitStatus {
    ProcessSettings.reserveStandardDescriptors()
    ProcessSettings.ignoreBrokenPipeSignal()
    // Stream names and keys are in memory.
    ProcessSettings.disableCoreDumps()
    do {
        try checkEncoding()
        let status = try dispatch(arguments)
        try finishOutput()
        return status
    } catch {
        let failure = CommandFailure(error)
        let lines = WordWrap.fitted("tallycam: \(failure.message)", to: STDERR_FILENO, indent: 2)
        write(Array("\(lines)\n".utf8), to: STDERR_FILENO)
        return failure.status
    }
}

/// Swift replaces invalid UTF-8 with U+FFFD, which would be shown to viewers.
private func checkEncoding() throws(CommandFailure) {
    for number in 0..<Int(CommandLine.argc) {
        guard let word = CommandLine.unsafeArgv[number], String(validatingCString: word) == nil else { continue }
        throw .usage("word \(number) of the command line is not UTF-8")
    }
}

/// Writes everything to standard output, or fails: the caller must not miss any of it.
func writeOutput(_ bytes: [UInt8]) throws(CommandFailure) {
    do throws(SystemCallError) {
        try writeAll(bytes, to: STDOUT_FILENO)
    } catch {
        throw CommandFailure(.system, "standard output: \(error.reason)")
    }
}

/// The same for buffered output.
private func finishOutput() throws(CommandFailure) {
    guard fflush(nil) == 0 else {
        throw CommandFailure(.system, "standard output: \(SystemCallError("fflush").reason)")
    }
}

private func dispatch(_ arguments: [String]) throws -> ExitStatus {
    switch arguments.first {
    case nil: throw CommandFailure.usage("missing command; try tallycam --help")
    case "--help", "-h", "help": return try runHelp(Array(arguments.dropFirst()))
    case "--version", "-V":
        guard arguments.count == 1 else { throw CommandFailure.usage("--version takes no arguments") }
        print("tallycam \(Program.version)")
    case let name?: return try command(named: name).run(Array(arguments.dropFirst()))
    }
    return .success
}

private func runHelp(_ arguments: [String]) throws -> ExitStatus {
    guard let parsed = try parseOptions(arguments, [], usage: "tallycam help [COMMAND]", operands: 0...1) else {
        return .success
    }
    guard let name = parsed.operands.first else {
        printHelp(helpText)
        return .success
    }
    return try command(named: name).run(["--help"])
}

private func command(named name: String) throws(CommandFailure) -> Command {
    // The camera's come last: their table is not made for the others.
    let own = firstCommands.first { $0.name == name } ?? lastCommands.first { $0.name == name }
    if let command = own ?? cameraCommands.first(where: { $0.name == name }) { return command }
    let known = name.hasPrefix("-") ? ["--help", "--version"] : commands.map(\.name)
    let meant = NameSuggestion.nearest(to: name, among: known).map { "did you mean \($0)? " } ?? ""
    throw .usage("unknown command \"\(name)\"; \(meant)try tallycam --help")
}

/// Wrapped in case the terminal is too narrow for the table.
private func printHelp(_ text: String) { print(WordWrap.fitted(text, to: STDOUT_FILENO), terminator: "") }

private var helpText: String {
    var text = "Usage: tallycam COMMAND [OPTION...]\n\nLive streaming from a camera board.\n\n"
    for command in commands {
        text += "  \(command.name)" + String(repeating: " ", count: 13 - command.name.count) + command.summary + "\n"
    }
    return text + """

        tallycam help COMMAND describes a command, as tallycam COMMAND --help does;
        tallycam --version prints the version.

        Exit status: 0 success; 1 problem found by doctor; 2 wrong command line or
        description file; 3 server not reached, refused or lost; 4 source or encoder
        failed; 5 recording failed; 6 the system refused; 7 the running camera refused.

        """
}

/// Parses a command's options and answers `--help`.
/// - Returns: `nil` if help was requested and printed.
func parseOptions(
    _ arguments: [String], _ options: [CommandLineOption], usage: String, operands: ClosedRange<Int> = 0...0,
    notes: String = ""
) throws -> CommandLineArguments? {
    let options = CommandLineOptions(options + [CommandLineOption("help", short: "h", help: "show this help")])
    let parsed: CommandLineArguments
    do {
        parsed = try options.parse(arguments)
    } catch {
        throw CommandFailure.usage("\(error)\(error.suggestion(among: options.options)); usage: \(usage)")
    }
    if parsed.contains("help") {
        printHelp("Usage: \(usage)\n\n\(options.helpText)\(notes)")
        return nil
    }
    // For example, from a script with an unset variable.
    for option in options.options where option.takesPath && parsed[option.name] == "" {
        throw CommandFailure.usage("--\(option.name) is empty; usage: \(usage)")
    }
    if parsed.operands.count > operands.upperBound {
        throw CommandFailure.usage("unexpected argument \"\(parsed.operands[operands.upperBound])\"; usage: \(usage)")
    }
    if parsed.operands.count < operands.lowerBound {
        throw CommandFailure.usage("missing argument; usage: \(usage)")
    }
    return parsed
}

/// The style given by `--events`; text by default.
func eventStyle(_ arguments: CommandLineArguments) throws -> Console.EventStyle {
    guard let name = arguments["events"] else { return .text }
    guard let style = Console.EventStyle(rawValue: name) else {
        throw CommandFailure.usage("--events must be json or text, not \"\(name)\"")
    }
    return style
}
