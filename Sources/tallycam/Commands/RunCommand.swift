import ApplianceRuntime
import LinuxIO
import Publishing
import StreamLogic

/// The command line's part of `ApplianceSettings`.
extension ApplianceSettings {
    static let usage = "tallycam run [OPTION...]"

    static let options = [
        CommandLineOption("boot", takes: "DIRECTORY", help: "the boot partition with the JSON files (default /boot)"),
        CommandLineOption("state", takes: "DIRECTORY", help: "what must survive a power cut (default /state)"),
        CommandLineOption("network", takes: "DIRECTORY", help: "the system's network settings (default /run/network)"),
        CommandLineOption(
            "supplicant", takes: "DIRECTORY", help: "wpa_supplicant's control interface (default /run/wpa_supplicant)"),
        socketOption,
        CommandLineOption(
            "simulate-power",
            help: "power-off and reboot end the program, not the machine; a terminal is taken as a watchdog"),
    ]

    static let socketOption = CommandLineOption(
        "socket", takes: "FILE", help: "where the camera listens (default /run/tallycam.sock)")

    init(_ arguments: CommandLineArguments) {
        self.init()
        bootDirectory = arguments["boot"] ?? bootDirectory
        stateDirectory = arguments["state"] ?? stateDirectory
        networkDirectory = arguments["network"] ?? networkDirectory
        supplicantDirectory = arguments["supplicant"] ?? supplicantDirectory
        socketPath = arguments["socket"] ?? socketPath
        simulatesPower = arguments.contains("simulate-power")
    }
}

/// `tallycam run`.
func runAppliance(_ arguments: [String]) throws -> ExitStatus {
    guard let parsed = try parseOptions(arguments, ApplianceSettings.options, usage: ApplianceSettings.usage) else {
        return .success
    }
    do {
        try ApplianceRunner(settings: ApplianceSettings(parsed), streams: .onThisMachine).run()
    } catch let error as SystemCallError {
        throw CommandFailure(.system, "\(error)")
    }
    return .success
}
