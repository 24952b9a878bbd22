import ApplianceRuntime
import CardStorage
import Glibc
import LinuxIO
import Terminal

/// `tallycam network`: writes the settings of network.json in the formats of the system's network programs.
func runNetwork(_ arguments: [String]) throws -> ExitStatus {
    let options = [
        CommandLineOption("file", takes: "FILE", help: "network.json to read (default /boot/network.json)"),
        CommandLineOption(
            "output", takes: "DIRECTORY",
            help: "folder for hostname, timeservers and wpa_supplicant.conf\n(default /run/network)"),
    ]
    let usage = "tallycam network [OPTION...]"
    let notes = """

        If the file is missing or faulty, the settings are written anyway, with
        defaults for whatever is missing or wrong: each fault is printed, and the exit
        status is 2.

        """
    guard let parsed = try parseOptions(arguments, options, usage: usage, notes: notes) else { return .success }
    let path = parsed["file"] ?? "/boot/network.json"
    let output = parsed["output"] ?? "/run/network"
    let (network, faults) = readNetworkSettings(path)
    for fault in faults {
        let line = withoutURLs(of: CommandLine.arguments, "tallycam: \(path):\(fault)\n")
        write(Array(line.utf8), to: STDERR_FILENO)
    }
    do {
        try writeNetworkSettings(network, to: output)
    } catch {
        throw CommandFailure(.system, "\(error)")
    }
    guard faults.allSatisfy(\.isWarning) else {
        throw CommandFailure.usage(
            "\(path) cannot be used as it is; settings were written to \(output), with defaults for what is missing or "
                + "wrong")
    }
    return .success
}
