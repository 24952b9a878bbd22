import LinuxIO

extension Console.EventStyle {
    /// `--events` of commands that report events.
    package static let option = CommandLineOption(
        "events", takes: "STYLE", help: "format of standard output: text (default) or json, one object per line")
}
