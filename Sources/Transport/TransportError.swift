import LinuxIO

/// Errors on the way to the server. The texts name host and port but never a path: paths hold secrets.
public enum TransportError: Error, Hashable, Sendable {
    /// The step that was running when time ran out.
    public enum Phase: String, Hashable, Sendable {
        case lookup = "looking up the host name"
        case connect = "connecting"
        case tlsHandshake = "the TLS handshake"
        case transfer = "sending"
    }

    /// No name server could be reached, or none can answer now.
    case nameLookupFailed(Endpoint, reason: String)
    /// The name servers answered that there is no address.
    case nameNotFound(Endpoint, reason: String)
    /// Connecting to every address failed; one reason for each, in the order of the attempts.
    case connectFailed(Endpoint, attempts: [FailedAttempt])
    /// The socket could not be created or configured: an error of this machine.
    case socketFailed(SystemCallError)
    case sendFailed(peer: String, SystemCallError)
    case receiveFailed(peer: String, SystemCallError)
    /// The server ended the connection properly.
    case closedByServer(peer: String)
    /// The connection was cut: it was reset, or the path to the peer is gone.
    case closedByPeer(peer: String, SystemCallError)
    case timedOut(peer: String, Phase)
    case tlsFailed(Endpoint, TLSFailure)
    /// TLS is unavailable: there are no CA certificates or no random numbers.
    case tlsUnavailable(reason: String)
    /// The CA certificates could not be read in time. The next attempt may succeed.
    case authoritiesUnread(CardCallError)
    /// Canceled locally. Not an error.
    case canceled

    /// An address to which no connection was made.
    public struct FailedAttempt: Hashable, Sendable, CustomStringConvertible {
        public let address: String
        public let reason: String

        public init(address: String, reason: String) {
            self.address = address
            self.reason = reason
        }

        public var description: String { "\(address) (\(reason))" }
    }

    /// The number in the product's list of error codes; `nil` for `canceled`.
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
        case .canceled: nil
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
        case .timedOut(let peer, .transfer): "\(peer) no longer answers: it has stopped acknowledging"
        case .timedOut(let peer, .tlsHandshake):
            "\(peer): the TLS handshake took too long; if the server expects RTMP without TLS on this port, "
                + "start the URL with rtmp://"
        case .timedOut(let peer, let phase): "\(peer): \(phase.rawValue) took too long"
        case .tlsFailed(let endpoint, let failure): "TLS with \(endpoint) failed: \(failure)"
        case .tlsUnavailable(let reason): "TLS cannot be used: \(reason)"
        case .authoritiesUnread(let error): "TLS cannot be used: the CA certificates cannot be read: \(error)"
        case .canceled: "stopped"
        }
    }
}

extension NameLookupFailure {
    func error(for endpoint: Endpoint) -> TransportError {
        isAnswer ? .nameNotFound(endpoint, reason: reason) : .nameLookupFailed(endpoint, reason: reason)
    }
}
