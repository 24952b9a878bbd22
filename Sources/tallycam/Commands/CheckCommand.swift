import JSONText
import LinuxIO
import Settings
import Transport

/// `tallycam check`: every fault of a stream description, with its place.
func runCheck(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam check stream.json"
    guard let parsed = try parseOptions(arguments, [], usage: usage, operands: 1...1) else { return .success }
    let path = parsed.operands[0]
    let file = try readStreamFile(path)
    for warning in file.warnings { print("\(path):\(warning)") }
    print("\(path): good; it publishes to \(file.stream.destination)")
    return .success
}

/// Reads `stream.json`, and looks whether the certificates that it names can be used.
/// - Throws: `CommandFailure` whose message names every fault on a line of its own.
func readStreamFile(_ path: String) throws -> StreamFile {
    let file: StreamFile
    do {
        file = try StreamFile(reading: path)
    } catch {
        throw CommandFailure.usage(error.lines.joined(separator: "\ntallycam: "))
    }
    if let problem = file.stream.neededCAFile.flatMap(TLSContext.problem(withAuthorityFile:)) {
        throw CommandFailure.usage("\(path):\(file.keys.position(of: "caFile")): caFile: \(problem)")
    }
    return file
}
