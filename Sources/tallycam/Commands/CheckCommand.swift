import CardStorage
import FrameFiltering
import Glibc
import JSONText
import LinuxIO
import Settings
import Terminal
import Transport

/// `tallycam check`: all faults of the card's JSON files, with their positions.
func runCheck(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam check FILE.json..."
    let notes = """

        The file's name determines its kind: stream.json, device.json, network.json
        or board.json. A file with another name is recognized by its keys. If any file
        is faulty, the exit status is 2.

        """
    guard let parsed = try parseOptions(arguments, [], usage: usage, operands: 1...Int.max, notes: notes) else {
        return .success
    }
    var complaints: [String] = []
    for path in parsed.operands {
        do {
            for line in try check(path) { print(line) }
        } catch {
            complaints.append(CommandFailure(error).message)
        }
    }
    guard complaints.isEmpty else { throw CommandFailure.usage(complaints.joined(separator: "\ntallycam: ")) }
    return .success
}

/// - Returns: the warnings, and a line saying that the file can be used.
private func check(_ path: String) throws -> [String] {
    let bytes: [UInt8]
    guard isRegularFile(path) != false else {
        throw CommandFailure.usage("\(path): is not a regular file; give the path of a JSON file")
    }
    do {
        bytes = try readRegularFile(path, limit: SettingsFile.sizeLimit)
    } catch {
        throw unreadable(path, error)
    }
    let named = DescriptionKind(fileName: String(path.split(separator: "/").last ?? ""))
    let json: JSONValue
    do {
        json = try JSONValue(parsing: bytes)
    } catch {
        let example = (named ?? .stream).example
        throw CommandFailure.usage("\(path):\(error.fault(example: example))")
    }
    guard let kind = named ?? DescriptionKind(recognizing: json, vocabulary: .standard) else {
        throw CommandFailure.usage(
            "\(path): none of its keys identifies the kind of file; name it stream.json, device.json, "
                + "network.json or board.json")
    }
    let faults: [DescriptionFault]
    var warnings: [String] = []
    var summary = "can be used as \(kind.rawValue)"
    switch kind {
    case .stream:
        let file = try streamFile { () throws(SettingsFileError) in try StreamFile(json, path: path) }
        faults = file.warnings
        warnings = pauseImageWarnings(file)
        summary = "can be used; it publishes to \(file.stream.summary)"
    case .device:
        let decoded = DeviceDescription.decode(json, vocabulary: .standard)
        faults = decoded.faults
        warnings = decoded.value.map { fileWarnings($0, decoded.keys, path) } ?? []
    case .network, .board: faults = kind.faults(of: json, vocabulary: .standard)
    }
    let lines = faults.map { "\(path):\($0)" }
    guard faults.allSatisfy(\.isWarning) else { throw CommandFailure.usage(lines.joined(separator: "\ntallycam: ")) }
    return lines + warnings + ["\(path): \(summary)"]
}

/// Only warnings, since a stream works without its image.
private func pauseImageWarnings(_ file: StreamFile) -> [String] {
    guard let image = file.stream.pauseImage else { return [] }
    do throws(StillImageError) {
        _ = try StillImage(reading: image)
        return []
    } catch {
        let place = "\(file.path):\(file.keys.position(of: "pauseImage"))"
        return ["\(place): pauseImage: warning: \(error); a pause shows the last frame instead"]
    }
}

/// Only warnings: files named in device.json are usually on the camera's card and not on this machine.
private func fileWarnings(_ device: DeviceDescription, _ keys: DescriptionKeys, _ path: String) -> [String] {
    var problems = UsableFilters(device.filters).unusable.map { (key: $0.keyPath, text: $0.problem) }
    let cameras = [("camera", device.camera)] + device.cameras.map { ("cameras.\($0.name)", $0.source) }
    for (key, source) in cameras {
        if let problem = MachineStreams().problem(ofFileSource: source) { problems.append((key, problem)) }
    }
    return problems.map { "\(path):\(keys.position(of: $0.key)): \($0.key): warning: \($0.text)" }
}

/// Reads `stream.json` and checks the certificates that it names.
/// - Throws: `CommandFailure` with one line for each fault.
func readStreamFile(_ path: String) throws -> StreamFile {
    try streamFile { () throws(SettingsFileError) in try StreamFile(reading: path) }
}

private func streamFile(_ read: () throws(SettingsFileError) -> StreamFile) throws -> StreamFile {
    let file: StreamFile
    do {
        file = try read()
    } catch {
        throw CommandFailure.usage(error.lines.joined(separator: "\ntallycam: "))
    }
    for target in file.stream.targets {
        guard let problem = target.neededCAFile.flatMap(TLSContext.problem(withAuthorityFile:)) else { continue }
        let key = target.keyPath(of: "caFile")
        throw CommandFailure.usage("\(file.path):\(file.keys.position(of: key)): \(key): \(problem)")
    }
    return file
}

private func unreadable(_ path: String, _ error: SystemCallError) -> CommandFailure {
    let limit = error.number == EFBIG ? "; the limit is \(SettingsFile.sizeLimit) bytes" : ""
    return .usage("\(path): cannot be read: \(error.reason)\(limit)")
}
