import LinuxIO
import Receiving
import StreamLogic
import Terminal
import Transport

private let receiveOptions = [
    CommandLineOption(
        "listen", takes: "HOST:PORT", isSingle: true, help: "listen on this address; port 0 takes any free port"),
    CommandLineOption(
        "record", takes: "FILE", isSingle: true,
        help: "record the published stream to FILE.flv or FILE.mp4; a second one goes to FILE-2"),
    CommandLineOption("overwrite", help: "let --record replace a file that is not empty"),
    Console.EventStyle.option,
    CommandLineOption("report-arrivals", help: "report each complete video and audio message as an event"),
    CommandLineOption("fault", takes: "NAME[=VALUE]", help: "misbehave for tests, as described below"),
]

/// `tallycam receive`.
func runReceive(_ arguments: [String]) throws -> ExitStatus {
    let usage = "tallycam receive --listen HOST:PORT [OPTION...]"
    guard let parsed = try parseOptions(arguments, receiveOptions, usage: usage, notes: ReceiverFault.helpText) else {
        return .success
    }
    guard let address = parsed["listen"] else { throw CommandFailure.usage("missing option --listen; usage: \(usage)") }
    let endpoint = try endpoint(address, of: "listen")
    guard parsed.contains("record") || !parsed.contains("overwrite") else {
        throw CommandFailure.usage("--overwrite can only be used with --record; usage: \(usage)")
    }
    let faults = try parsed.values(of: "fault").map(ReceiverFault.init(parsing:))
    let console = try Console(eventStyle: try eventStyle(parsed))
    defer { console.finish() }
    do {
        let recording = parsed["record"].map {
            Receiver.Recording(path: $0, overwrites: parsed.contains("overwrite"))
        }
        let receiver = try Receiver(
            endpoint: endpoint, recording: recording, reportsArrivals: parsed.contains("report-arrivals"),
            faults: ReceiverFaults(faults), report: { console.emit($0) }, log: { console.log($0) })
        try receiver.run()
        return .success
    } catch {
        let failure = CommandFailure(error)
        console.emit(failure.event)
        throw failure
    }
}

/// - Parameter option: whose value it is.
func endpoint(_ text: String, of option: String) throws -> Endpoint {
    do { return try Endpoint(parsing: text) } catch { throw CommandFailure.usage("--\(option): \(error)") }
}
