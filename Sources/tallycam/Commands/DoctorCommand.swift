import ApplianceLogic
import ApplianceRuntime
import CardStorage
import CommandChannels
import Diagnosis
import Glibc
import LinuxIO
import Media
import StreamLogic
import Terminal

/// `tallycam doctor`: checks the device part by part. A running camera does it itself, since it knows what it uses.
func runDoctor(_ arguments: [String]) throws -> ExitStatus {
    let options = [
        CommandLineOption("json", help: "print one JSON object per line"),
        CommandLineOption(
            "boot", takes: "DIRECTORY", help: "check these JSON files, and ask no running camera (default /boot)"),
        CommandLineOption("state", takes: "DIRECTORY", help: "folder of the camera's state (default /state)"),
        CommandLineOption("network", takes: "DIRECTORY", help: "the system's network settings (default /run/network)"),
        ApplianceSettings.socketOption,
    ]
    let notes = """

        Checks card, network, time, name lookup, server, key, camera, encoder,
        microphone, button, light and the disk of recordings in this order, and says
        what to do next. It connects to the server but publishes nothing. If a camera
        runs, it answers. The exit status is 1 if there is a problem.

        """
    guard let parsed = try parseOptions(arguments, options, usage: "tallycam doctor [OPTION...]", notes: notes) else {
        return .success
    }
    let report = CheckupReport(isJSON: parsed.contains("json"))
    let settings = ApplianceSettings(parsed)
    guard !parsed.contains("boot"), try parsed.contains("socket") || isAnswered(settings.socketPath) else {
        return try examine(settings, report)
    }
    return try examine(through: settings.socketPath, report)
}

/// Whether a camera is running there.
private func isAnswered(_ path: String) throws(SystemCallError) -> Bool {
    do throws(SystemCallError) {
        _ = try connectLocal(path)
        return true
    } catch  where [ENOENT, ENOTDIR, ECONNREFUSED].contains(error.number) {
        return false
    }
}

private func examine(_ settings: ApplianceSettings, _ report: CheckupReport) throws -> ExitStatus {
    let run = try DoctorRun(settings, MachineStreams(), now: MonotonicClock.now())
    while true {
        for line in run.advance(now: MonotonicClock.now()) { try report.show(line) }
        if let summary = run.takeSummary() { return try report.end(summary) }
        var entries = [PollEntry(run.fileDescriptor)]
        try poll(&entries, until: run.nextDeadline)
    }
}

/// The camera answers line by line.
private func examine(through path: String, _ report: CheckupReport) throws -> ExitStatus {
    let camera = try FollowedCamera("doctor json", at: path, patience: .seconds(20))
    var rest: [UInt8] = []
    while let bytes = try camera.next() {
        rest += bytes
        while let end = rest.firstIndex(of: 0x0A) {
            let text = Array(rest[..<end])
            rest.removeFirst(end + 1)
            if let line = CheckupLine(jsonLine: text) { try report.show(line) }
            if let summary = CheckupSummary(jsonLine: text) { return try report.end(summary) }
        }
    }
    throw CommandFailure(.system, "the camera's answer at \(path) is cut off")
}

/// Prints an examination line by line.
private struct CheckupReport {
    let isJSON: Bool

    func show(_ line: CheckupLine) throws {
        try write("\(line)", orJSON: line.jsonLine)
    }

    func end(_ summary: CheckupSummary) throws -> ExitStatus {
        try write("\(summary)", orJSON: summary.jsonLine)
        return summary.isGood ? .success : .problem
    }

    private func write(_ text: String, orJSON json: [UInt8]) throws {
        try writeOutput(isJSON ? json : Array((WordWrap.report("\(text)\n", to: STDOUT_FILENO)).utf8))
    }
}
