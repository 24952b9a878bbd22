import Media
import RTMP
import Transport

/// How long each step to a stream may take, as a person sets it.
public struct StepTimeouts: Sendable {
    /// Looking the host up; and then, for all its addresses together, connecting.
    public var connect = Duration.seconds(5)
    /// The TLS handshake, the RTMP handshake, and each answer of the server after them.
    public var handshake = Duration.seconds(5)

    /// For what a connection reads from the card, each time. A card may take seconds for a write that is under way.
    static let card = Duration.seconds(10)

    public init() {}

    /// - Parameter repetition: see `ConnectionTimeouts`.
    public func connection(repetition: Duration? = nil) -> ConnectionTimeouts {
        ConnectionTimeouts(lookup: connect, connect: connect, tlsHandshake: handshake, repetition: repetition)
    }

    public var session: PublishConfiguration.Timeouts { .init(handshake: handshake, answer: handshake) }

    /// Of a whole attempt: the steps, of which connect, createStream and publish are one each, and a little more.
    public var attempt: Duration { max(.seconds(30), connect * 2 + handshake * 5 + .seconds(1)) }
}
