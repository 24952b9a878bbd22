import LinuxIO
import Publishing
import Terminal

/// The command line's part of `StepTimeouts`.
extension StepTimeouts {
    static let options = [
        CommandLineOption(
            "connect-timeout", takes: "SECONDS",
            help: "seconds for the lookup, and for connecting: 1 to 60 (default 5)"),
        CommandLineOption(
            "handshake-timeout", takes: "SECONDS",
            help: "seconds for TLS, for RTMP, and for each answer: 1 to 60 (default 5)"),
    ]

    init(_ arguments: CommandLineArguments) throws {
        self.init()
        connect = try Self.timeout(arguments, "connect-timeout") ?? connect
        handshake = try Self.timeout(arguments, "handshake-timeout") ?? handshake
    }

    private static func timeout(_ arguments: CommandLineArguments, _ name: String) throws -> Duration? {
        guard let text = arguments[name] else { return nil }
        guard let seconds = Double(text), (1...60).contains(seconds) else {
            throw CommandFailure.usage("--\(name) must be a number of seconds, 1 to 60, not \"\(text)\"")
        }
        return .nanoseconds(Int64(seconds * 1e9))
    }
}
