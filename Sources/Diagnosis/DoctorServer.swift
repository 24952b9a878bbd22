import ApplianceLogic
import LinuxIO
import Media
import Settings
import Transport

// Name lookup, TCP, TLS and the RTMP handshake, as a stream does them. The connection is closed before anything is published.
extension DoctorExaminer {
    /// - Returns: the finding of the server. That of the name is sent as soon as it is known.
    func server(_ stream: StreamDescription) -> [CheckupFinding] {
        let endpoint = Endpoint(of: stream)
        let isNumeric = SocketAddress(numericHost: endpoint.host, port: endpoint.port) != nil
        if isNumeric { reports.send(.found(.notChecked(.nameLookup, .addressGiven))) }
        do throws(TransportError) {
            let connector = try Connector(
                to: endpoint, security: try security(of: stream), timeouts: Self.timeouts, now: MonotonicClock.now())
            return [.server(try connect(connector, to: endpoint))]
        } catch {
            return Self.findings(error)
        }
    }

    private func security(of stream: StreamDescription) throws(TransportError) -> TransportSecurity {
        guard stream.usesTLS else { return .none }
        return .tls(
            try TLSContext.shared(
                authorityFile: stream.caFile, readBy: card, within: .seconds(4), cancellation: -1))
    }

    private func connect(_ connector: Connector, to endpoint: Endpoint) throws(TransportError) -> ServerFinding {
        var isLookupSent = false
        while true {
            let result = Result { () throws(TransportError) in try connector.advance(now: MonotonicClock.now()) }
            if !isLookupSent, !connector.addresses.isEmpty {
                isLookupSent = true
                reports.send(.found(.nameLookup(.found(host: endpoint.host, addresses: connector.addresses))))
            }
            if let connection = try result.get() {
                defer { connection.close() }
                var handshake = DoctorHandshake(over: connection)
                if let failure = try handshake.failure() { return .failed(reason: "\(failure)", isCertificate: false) }
                return .reached(peer: connection.peer, tls: connection.tlsVersion)
            }
            var entries = connector.pollEntries
            do {
                try poll(&entries, until: connector.deadline)
            } catch {
                throw .socketFailed(error)
            }
        }
    }

    /// - Returns: also one of the name, for an error before the lookup.
    private static func findings(_ error: TransportError) -> [CheckupFinding] {
        let unknown = CheckupFinding.notChecked(.nameLookup, .failed("\(error)"))
        return switch error {
        case .nameLookupFailed, .nameNotFound, .timedOut(_, .lookup):
            [.nameLookup(.failed(reason: "\(error)")), .notChecked(.server, .nameNotFound)]
        case .tlsFailed, .timedOut(_, .tlsHandshake), .tlsUnavailable, .authoritiesUnread:
            [unknown, .server(.failed(reason: "\(error)", isCertificate: true))]
        default: [unknown, .server(.failed(reason: "\(error)", isCertificate: false))]
        }
    }
}

extension Endpoint {
    init(of stream: StreamDescription) {
        switch stream.form {
        case .plain(let plain): self.init(host: plain.url.host, port: plain.url.port)
        case .pili(let pili):
            self.init(host: pili.publishHost.name, port: pili.publishHost.port ?? RTMPURL.Scheme.rtmp.defaultPort)
        }
    }
}
