import Media
import RTMP
import Transport

/// How long each step of starting a stream may take; people can set this.
public struct StepTimeouts: Sendable {
    /// For the lookup of the host, and again for connecting to all of its addresses together.
    public var connect = Duration.seconds(5)
    /// The TLS handshake, the RTMP handshake, and each answer of the server after them.
    public var handshake = Duration.seconds(5)

    /// For each read from the card by a connection. A card may need seconds for a write in progress.
    static let card = Duration.seconds(10)

    public init() {}

    /// - Parameter repetition: see `ConnectionTimeouts`.
    public func connection(repetition: Duration? = nil) -> ConnectionTimeouts {
        ConnectionTimeouts(lookup: connect, connect: connect, tlsHandshake: handshake, repetition: repetition)
    }

    public var session: PublishConfiguration.Timeouts { .init(handshake: handshake, answer: handshake) }

    /// For a whole attempt: all steps, with connect, createStream and publish as one each, and a little more.
    public var attempt: Duration { max(.seconds(30), connect * 2 + handshake * 5 + .seconds(1)) }
}
