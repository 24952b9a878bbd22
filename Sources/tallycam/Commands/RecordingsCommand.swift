import Glibc
import LinuxIO
import Recording
import Terminal

/// `tallycam recordings`: the recordings of a folder, and what servers lack of them.
func runRecordings(_ arguments: [String]) throws -> ExitStatus {
    let options = [
        CommandLineOption("json", help: "print one JSON object per line"),
        CommandLineOption("target", takes: "NAME", isSingle: true, help: "only what this server lacks"),
        CommandLineOption(
            "gaps", takes: "FILE", isSingle: true,
            help: "write what servers lack of this recording as MP4 files,\ncut at keyframes"),
        CommandLineOption("output", takes: "DIRECTORY", help: "folder for these files (default: the present one)"),
        CommandLineOption("repair", help: "first finish the folder's recordings that were cut off"),
    ]
    let usage = "tallycam recordings [DIRECTORY] [OPTION...]"
    guard let parsed = try parseOptions(arguments, options, usage: usage, operands: 0...1) else { return .success }
    guard let path = parsed["gaps"] else {
        guard !parsed.contains("output") else { throw CommandFailure.usage("--output needs --gaps; usage: \(usage)") }
        if parsed.contains("repair") {
            for event in try RecordingRepairs.repair(parsed.operands.first ?? ".") {
                write(Array("note: \(event.text)\n".utf8), to: STDERR_FILENO)
            }
        }
        let catalog = try RecordingCatalog(parsed.operands.first ?? ".", target: parsed["target"])
        let table = { WordWrap.report(RecordingListing.table(catalog), to: STDOUT_FILENO) }
        try writeOutput(parsed.contains("json") ? RecordingListing.json(catalog) : Array(table().utf8))
        return .success
    }
    guard parsed.operands.isEmpty, !parsed.contains("repair") else {
        throw CommandFailure.usage("--gaps takes one recording, and no folder; usage: \(usage)")
    }
    do throws(RecordingGapError) {
        let writer = try RecordingGapWriter(path, target: parsed["target"])
        let written = try writer.write(to: parsed["output"] ?? ".")
        guard !parsed.contains("json") else {
            for part in written { try? writeOutput(RecordingListing.json(part)) }
            return .success
        }
        for part in written { print(RecordingListing.line(part)) }
        if written.isEmpty { print("\(writer.targets.joined(separator: ", ")): nothing is missing of \(path)") }
        return .success
    } catch {
        if case .unwritable = error { throw CommandFailure(.recording, "\(error)") }
        throw CommandFailure(.media, "\(error)")
    }
}
