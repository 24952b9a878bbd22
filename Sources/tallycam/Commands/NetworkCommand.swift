import ApplianceRuntime
import LinuxIO

/// `tallycam network`: what network.json says, in the forms that the system's network programs read.
func runNetwork(_ arguments: [String]) throws -> ExitStatus {
    let options = [
        CommandLineOption("file", takes: "FILE", help: "a network.json (default /boot/network.json)"),
        CommandLineOption(
            "output", takes: "DIRECTORY",
            help: "where hostname, timeservers and wpa_supplicant.conf go\n(default /run/network)"),
    ]
    let usage = "tallycam network [OPTION...]"
    let notes = "\nWhat is wrong in the file is reported; the rest of it is written, with defaults for what is wrong.\n"
    guard let parsed = try parseOptions(arguments, options, usage: usage, notes: notes) else { return .success }
    let path = parsed["file"] ?? "/boot/network.json"
    let (network, faults) = readNetworkSettings(path)
    for fault in faults { write(Array("tallycam: \(path):\(fault)\n".utf8), to: 2) }
    do {
        try writeNetworkSettings(network, to: parsed["output"] ?? "/run/network")
    } catch {
        throw CommandFailure(.system, "\(error)")
    }
    return .success
}
