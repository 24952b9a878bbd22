import JSONText
import LinuxIO
import StreamFile
import Transport

/// `tallycam check`: every fault of a stream description, with its place.
func runCheck(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam check stream.json"
    guard let parsed = try parseOptions(arguments, [], usage: usage, operands: 1...1) else { return .success }
    let path = parsed.operands[0]
    let (stream, warnings) = try readStreamDescription(path)
    for warning in warnings { print("\(path):\(warning)") }
    print("\(path): good; it publishes to \(stream.destination)")
    return .success
}

/// Reads `stream.json`.
/// - Throws: `CommandFailure` whose message names every fault on a line of its own.
func readStreamDescription(_ path: String) throws -> (StreamDescription, warnings: [DescriptionFault]) {
    let bytes: [UInt8]
    do {
        bytes = try readFile(path, limit: 1 << 20)
    } catch {
        throw CommandFailure.usage("\(path): cannot be read: \(error.reason)")
    }
    let json: JSONValue
    do {
        json = try JSONValue(parsing: bytes)
    } catch {
        throw CommandFailure.usage("\(path):\(error.fault(example: StreamDescription.example))")
    }
    let decoded = StreamDescription.decode(json)
    guard let stream = decoded.value, decoded.errors.isEmpty else {
        let lines = decoded.faults.map { "\(path):\($0)" }
        throw CommandFailure.usage(lines.joined(separator: "\ntallycam: "))
    }
    let located = stream.located(in: path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
    if let problem = located.problemWithCAFile {
        throw CommandFailure.usage("\(path):\(decoded.keys.position(of: "caFile")): caFile: \(problem)")
    }
    return (located, decoded.warnings)
}

extension StreamDescription {
    /// Why no connection could be made with it, for people.
    var problemWithCAFile: String? {
        guard let neededCAFile else { return nil }
        // Reading a pipe would hold up the main thread for as long as nobody writes to it.
        guard isRegularFile(neededCAFile) != false else { return "\(neededCAFile) is not a regular file" }
        do {
            _ = try TLSContext.shared(authorityFile: neededCAFile)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Where it publishes, for people: without key, stream name and query.
    var destination: String {
        switch form {
        case .pili(let stream): "rtmp://\(stream.publishHost)/\(stream.hub)/***"
        case .plain(let stream): "\(stream.url)"
        }
    }
}
