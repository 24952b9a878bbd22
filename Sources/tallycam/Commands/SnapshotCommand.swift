import CardStorage
import LinuxIO
import Media
import StreamLogic
import Terminal

/// `tallycam snapshot`: a JPEG of the running camera's view.
func runSnapshot(_ arguments: [String]) throws -> ExitStatus {
    let options = [
        CommandLineOption(
            "output", takes: "FILE",
            help: """
                file for the JPEG, - for standard output; without it, the
                camera keeps the JPEG and its path is printed
                """),
        CommandLineOption("quality", takes: "N", help: "quality of the JPEG, 1 to 100 (default: that of device.json)"),
        ApplianceSettings.socketOption,
    ]
    let usage = "tallycam snapshot [QUALITY] [OPTION...]"
    guard let parsed = try parseOptions(arguments, options, usage: usage, operands: 0...1) else { return .success }
    if let option = parsed["quality"], let operand = parsed.operands.first {
        throw CommandFailure.usage(
            "the quality is given twice: \(quoted(operand.prefix(20))) and --quality \(quoted(option.prefix(20)))")
    }
    let quality = try (parsed["quality"] ?? parsed.operands.first).map { text -> String in
        guard let number = Int(text), SnapshotRequest.qualities.contains(number) else {
            throw CommandFailure.usage("the quality must be a whole number from 1 to 100, not \"\(text)\"")
        }
        return " \(number)"
    }
    guard let path = parsed["output"] else {
        try writeOutput(try cameraAnswer(to: "snapshot\(quality ?? "")", parsed, limit: 1 << 16))
        return .success
    }
    let snapshot = try cameraAnswer(to: "snapshot send\(quality ?? "")", parsed, limit: 1 << 26)
    // A truncated file does not end with this marker.
    guard snapshot.suffix(2) == [0xFF, 0xD9] else {
        throw CommandFailure(.system, "the camera's snapshot is cut off")
    }
    try save(snapshot, to: path)
    return .success
}

/// - Parameter path: `-` for standard output.
private func save(_ snapshot: [UInt8], to path: String) throws(CommandFailure) {
    guard path != "-" else { return try writeOutput(snapshot) }
    do throws(SystemCallError) {
        try replaceFile(path, with: snapshot, sparesOthers: true)
    } catch {
        throw CommandFailure(.recording, "\(error)")
    }
}
