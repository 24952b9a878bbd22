import LinuxIO
import Media
import RTMP
import Transport

/// How long each step to a stream may take, as a person sets it.
struct StepLimits: Sendable {
    /// Looking the host up; and then, for all its addresses together, connecting.
    var connect = Duration.seconds(5)
    /// The TLS handshake, the RTMP handshake, and each answer of the server after them.
    var handshake = Duration.seconds(5)

    static let options = [
        CommandLineOption(
            "connect-limit", takes: "SECONDS",
            help: "for the lookup, and for connecting: 1 to 60 (default 5)"),
        CommandLineOption(
            "handshake-limit", takes: "SECONDS",
            help: "for TLS, for RTMP, and for each answer: 1 to 60 (default 5)"),
    ]

    init() {}

    init(_ arguments: CommandLineArguments) throws {
        connect = try Self.limit(arguments, "connect-limit") ?? connect
        handshake = try Self.limit(arguments, "handshake-limit") ?? handshake
    }

    private static func limit(_ arguments: CommandLineArguments, _ name: String) throws -> Duration? {
        guard let text = arguments[name] else { return nil }
        guard let seconds = Double(text), (1...60).contains(seconds) else {
            throw CommandFailure.usage("--\(name) is a number of seconds, 1 to 60, not \"\(text)\"")
        }
        return .nanoseconds(Int64(seconds * 1e9))
    }

    /// - Parameter repetition: see `ConnectionLimits`.
    func connection(repetition: Duration? = nil) -> ConnectionLimits {
        ConnectionLimits(lookup: connect, connect: connect, tlsHandshake: handshake, repetition: repetition)
    }

    var session: PublishConfiguration.TimeLimits { .init(handshake: handshake, answer: handshake) }

    /// Of a whole attempt: the steps, of which connect, createStream and publish are one each, and a little more.
    var attempt: Duration { max(.seconds(30), connect * 2 + handshake * 5 + .seconds(1)) }
}
