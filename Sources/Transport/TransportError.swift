import LinuxIO

/// What can go wrong between here and the server. The texts name host and port and
/// never a path: paths hold secrets.
public enum TransportError: Error, Hashable, Sendable {
    /// What was under way when time ran out.
    public enum Phase: String, Hashable, Sendable {
        case lookup = "looking up the host name"
        case connect = "connecting"
        case tlsHandshake = "the TLS handshake"
        case transfer = "sending"
    }

    /// No name server could be asked, or none has an answer now.
    case nameLookupFailed(Endpoint, reason: String)
    /// The name servers know of no address.
    case nameNotFound(Endpoint, reason: String)
    /// No address could be connected to; one reason for each, in the order of the attempts.
    case connectFailed(Endpoint, attempts: [FailedAttempt])
    /// The socket could not be made or set up: a fault of this machine.
    case socketFailed(SystemCallError)
    case sendFailed(peer: String, SystemCallError)
    case receiveFailed(peer: String, SystemCallError)
    /// The server ended the connection in order.
    case closedByServer(peer: String)
    /// The connection was cut: reset, or the way to the peer is gone.
    case closedByPeer(peer: String, SystemCallError)
    case timedOut(peer: String, Phase)
    case tlsFailed(Endpoint, TLSFailure)
    /// TLS cannot be used at all: no CA certificates, no random numbers.
    case tlsUnavailable(reason: String)
    /// The CA certificates could not be read in time. They may be the next time.
    case authoritiesUnread(CardCallError)
    /// Stopped from this side. No fault.
    case cancelled

    /// One address that did not answer.
    public struct FailedAttempt: Hashable, Sendable, CustomStringConvertible {
        public let address: String
        public let reason: String

        public init(address: String, reason: String) {
            self.address = address
            self.reason = reason
        }

        public var description: String { "\(address) (\(reason))" }
    }

    /// The number in the product's list of error codes; `nil` for `cancelled`.
    public var code: Int? {
        switch self {
        case .nameLookupFailed, .timedOut(_, .lookup): -1000
        case .nameNotFound: -1300
        case .connectFailed: -1001
        case .socketFailed: -1003
        case .sendFailed: -1006
        case .closedByServer: -1007
        case .closedByPeer, .receiveFailed: -1013
        case .timedOut: -1015
        case .tlsFailed: -1200
        case .tlsUnavailable, .authoritiesUnread: -1201
        case .cancelled: nil
        }
    }
}

extension TransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .nameLookupFailed(let endpoint, let reason):
            "\(endpoint.host) could not be looked up: \(reason); check the board's network and name server"
        case .nameNotFound(let endpoint, let reason):
            "\(endpoint.host) was not found: \(reason); check the name and the board's name server"
        case .connectFailed(let endpoint, let attempts) where attempts.isEmpty:
            "\(endpoint.host) has no address to connect to"
        case .connectFailed(let endpoint, let attempts):
            "could not connect to \(endpoint): "
                + attempts.map { $0.address == "\(endpoint)" ? $0.reason : $0.description }.joined(separator: ", ")
                + "; is the server running, and are host and port right?"
        case .socketFailed(let error): "could not set up a socket: \(error)"
        case .sendFailed(let peer, let error): "sending to \(peer) failed: \(error.reason)"
        case .receiveFailed(let peer, let error): "receiving from \(peer) failed: \(error.reason)"
        case .closedByServer(let peer): "\(peer) closed the connection"
        case .closedByPeer(let peer, let error): "the connection to \(peer) was cut: \(error.reason)"
        case .timedOut(let peer, .transfer): "\(peer) no longer answers: nothing that was sent arrives"
        case .timedOut(let peer, .tlsHandshake):
            "\(peer): the TLS handshake took too long; if the server takes RTMP without TLS on this port, "
                + "start the URL with rtmp://"
        case .timedOut(let peer, let phase): "\(peer): \(phase.rawValue) took too long"
        case .tlsFailed(let endpoint, let failure): "TLS with \(endpoint) failed: \(failure)"
        case .tlsUnavailable(let reason): "TLS cannot be used: \(reason)"
        case .authoritiesUnread(let error): "TLS cannot be used: the CA certificates cannot be read: \(error)"
        case .cancelled: "stopped"
        }
    }
}

extension NameLookupFailure {
    func error(for endpoint: Endpoint) -> TransportError {
        isAnswer ? .nameNotFound(endpoint, reason: reason) : .nameLookupFailed(endpoint, reason: reason)
    }
}
