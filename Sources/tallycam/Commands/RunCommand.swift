import ApplianceRuntime
import CardStorage
import LinuxIO
import Publishing
import StreamLogic
import Terminal
import Transport

extension ApplianceSettings {
    static let usage = "tallycam run [OPTION...]"

    static let options = [
        CommandLineOption("boot", takes: "DIRECTORY", help: "the boot partition with the JSON files (default /boot)"),
        CommandLineOption("state", takes: "DIRECTORY", help: "data that must survive a power cut (default /state)"),
        CommandLineOption("network", takes: "DIRECTORY", help: "the system's network settings (default /run/network)"),
        CommandLineOption(
            "supplicant", takes: "DIRECTORY", help: "wpa_supplicant's control interface (default /run/wpa_supplicant)"),
        socketOption,
        CommandLineOption("page", takes: "HOST:PORT", help: "serve the page there (default: no page)"),
        CommandLineOption(
            "simulate-power",
            help: "power-off and reboot end only the program; a terminal can stand in for the watchdog"),
        CommandLineOption(
            "unattended",
            help: "run even without a boot folder or a socket, and report a fault (for init);\n"
                + "do not log to a terminal"),
        CommandLineOption(
            "log",
            help: "write the log to standard output even if it is not a terminal;\n"
                + "with --events json, to standard error"),
        Console.EventStyle.option,
    ]

    static let socketOption = CommandLineOption(
        "socket", takes: "FILE", help: "the camera's socket (default /run/tallycam.sock)")

    init(_ arguments: CommandLineArguments) throws {
        self.init()
        pageEndpoint = try arguments["page"].map { try endpoint($0, of: "page") }
        bootDirectory = arguments["boot"] ?? bootDirectory
        stateDirectory = arguments["state"] ?? stateDirectory
        networkDirectory = arguments["network"] ?? networkDirectory
        supplicantDirectory = arguments["supplicant"] ?? supplicantDirectory
        socketPath = arguments["socket"] ?? socketPath
        simulatesPower = arguments.contains("simulate-power")
        isUnattended = arguments.contains("unattended")
    }
}

/// `tallycam run`.
func runAppliance(_ arguments: [String]) throws -> ExitStatus {
    guard let parsed = try parseOptions(arguments, ApplianceSettings.options, usage: ApplianceSettings.usage) else {
        return .success
    }
    let settings = try ApplianceSettings(parsed)
    let log = try ApplianceLog(
        try eventStyle(parsed), isAskedFor: parsed.contains("log"), isUnattended: settings.isUnattended)
    defer { log?.finish() }
    do {
        try ApplianceRunner(settings: settings, streams: MachineStreams(), log: log).run()
    } catch {
        let failure = CommandFailure(error)
        log?.failed(failure.event)
        throw failure
    }
    return .success
}
