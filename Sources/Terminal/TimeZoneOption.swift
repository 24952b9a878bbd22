import LinuxIO
import Media
import TimeZones

/// `--time-zone` of commands that show the time.
package enum TimeZoneOption {
    package static let option = CommandLineOption(
        "time-zone", takes: "NAME",
        help: """
            time zone of {time} and {date} in text filters, such as
            Europe/Berlin (default: this computer's)
            """)

    /// Applies to the whole program, which keeps its zone if the option is absent.
    package static func apply(_ arguments: CommandLineArguments) throws(CommandFailure) {
        guard let name = arguments[option.name] else { return }
        do throws(TimeZoneError) {
            WallClock.zone = try TimeZone(named: name)
        } catch {
            throw .usage("--time-zone: \(quoted(name.prefix(60))) \(error)")
        }
    }
}
