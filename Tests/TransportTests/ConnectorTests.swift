import Glibc
import LinuxIO
import Media
import Synchronization
import Testing

@testable import Transport

/// The result of a connection: the peer's address or the error.
private func outcome(_ connect: () throws -> any ByteStream) -> Result<String, TransportError> {
    do {
        return .success(try connect().peer)
    } catch let error as TransportError {
        return .failure(error)
    } catch {
        return .failure(.tlsUnavailable(reason: "not a transport error: \(error)"))
    }
}

/// An address that swallows everything sent to it.
private let swallowingLink = """
    ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up
    ip addr add 192.0.2.1/24 dev v0
    ip neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev v0 nud permanent
    """

private let brief: ConnectionTimeouts = {
    var timeouts = ConnectionTimeouts()
    timeouts.lookup = .milliseconds(400)
    timeouts.connect = .milliseconds(400)
    timeouts.tlsHandshake = .milliseconds(400)
    return timeouts
}()

/// For connections that must succeed, even on a busy machine.
let patient = ConnectionTimeouts(
    lookup: .seconds(60), connect: .seconds(60), tlsHandshake: .seconds(60))

@Suite struct ConnectorTests {
    @Test func connectsToANameFromTheHostsFile() throws {
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let client = try Connector.connect(to: Endpoint(host: "localhost", port: listener.port), timeouts: patient)
        #expect(client.peer == "127.0.0.1:\(listener.port)")
    }

    @Test func reportsThatNothingListensOnThePort() throws {
        let port = try TCPListener(Endpoint(host: "127.0.0.1", port: 0)).port
        let endpoint = Endpoint(host: "127.0.0.1", port: port)
        let error = TransportError.connectFailed(
            endpoint, attempts: [.init(address: "\(endpoint)", reason: "Connection refused")])
        #expect(throws: error) { try Connector.connect(to: endpoint) }
        #expect(error.code == -1001)
        #expect(
            error.description
                == "could not connect to \(endpoint): Connection refused; is the server running, and are host and port right?"
        )
    }

    @Test func reportsThatThereIsNoNetwork() throws {
        let endpoint = Endpoint(host: "192.0.2.7", port: 1935)
        let result = try inNetworkNamespace { outcome { try Connector.connect(to: endpoint) } }
        let attempt = TransportError.FailedAttempt(address: "192.0.2.7:1935", reason: "Network is unreachable")
        #expect(result == .failure(.connectFailed(endpoint, attempts: [attempt])))
    }

    @Test func stopsWaitingForASilentAddress() throws {
        let endpoint = Endpoint(host: "192.0.2.2", port: 1935)
        let result = try inNetworkNamespace {
            try shell(swallowingLink)
            return outcome { try Connector.connect(to: endpoint, timeouts: brief) }
        }
        #expect(result == .failure(.timedOut(peer: "192.0.2.2:1935", .connect)))
    }

    @Test func keepsRetryingASilentAddress() throws {
        let peer = try inNetworkNamespace { () -> String in
            try shell(swallowingLink)
            let listener = try TCPListener(Endpoint(host: "0.0.0.0", port: 0))
            defer { withExtendedLifetime(listener) {} }
            try shell("echo 1 > /proc/sys/net/ipv6/conf/v0/disable_ipv6")
            // The first five attempts are lost. TCP alone would send its fifth after 15 s.
            let opener = try ChildProcess([
                "sh", "-c",
                "sent() { awk '/v0:/ { print $11 }' /proc/net/dev; }; first=$(sent); "
                    + "while [ $(($(sent) - first)) -lt 5 ]; do sleep 0.02; done; ip addr add 192.0.2.2/32 dev lo",
            ])
            let stream = try Connector.connect(
                to: Endpoint(host: "192.0.2.2", port: listener.port),
                timeouts: ConnectionTimeouts(connect: .seconds(14), repetition: .milliseconds(100)))
            _ = opener.wait()
            return stream.peer
        }
        #expect(peer.hasPrefix("192.0.2.2:"))
    }

    @Test func canBeCanceledWhileConnecting() throws {
        let result = try inNetworkNamespace {
            try shell(swallowingLink)
            let cancellation = try EventFD()
            _ = try NamedThread("canceller") {
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
                cancellation.signal()
            }
            return outcome {
                try Connector.connect(
                    to: Endpoint(host: "192.0.2.2", port: 1935), timeouts: patient,
                    cancellation: cancellation.fileDescriptor)
            }
        }
        #expect(result == .failure(.canceled))
    }

    @Test func skipsAnAddressThatDoesNotAnswer() throws {
        let result = try inNetworkNamespace {
            try shell(swallowingLink)
            let server = try NameServer { _, wantsIPv6 in
                wantsIPv6 ? .ipv6([]) : .ipv4([[192, 0, 2, 2], [127, 0, 0, 1]])
            }
            defer { withExtendedLifetime(server) {} }
            let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 1935))
            defer { withExtendedLifetime(listener) {} }
            return outcome { try Connector.connect(to: Endpoint(host: "live.example", port: 1935), timeouts: patient) }
        }
        #expect(result == .success("127.0.0.1:1935"))
    }

    /// The answer for IPv6 may come 50 ms after the other one on a busy machine, but not each time.
    @Test func prefersIPv6() throws {
        let preferred: Result<String, TransportError> = .success("[::1]:1935")
        var result: Result<String, TransportError>?
        for _ in 0..<20 where result != preferred { result = try resultOfBothFamilies() }
        #expect(result == preferred)
    }

    private func resultOfBothFamilies() throws -> Result<String, TransportError> {
        try inNetworkNamespace {
            let server = try NameServer { _, wantsIPv6 in
                wantsIPv6 ? .ipv6([[UInt8](repeating: 0, count: 15) + [1]]) : .ipv4([[127, 0, 0, 1]])
            }
            defer { withExtendedLifetime(server) {} }
            let listener = try TCPListener(Endpoint(host: "::", port: 1935))
            defer { withExtendedLifetime(listener) {} }
            return outcome { try Connector.connect(to: Endpoint(host: "live.example", port: 1935), timeouts: patient) }
        }
    }

    @Test func fallsBackToIPv4IfIPv6IsDead() throws {
        let result = try inNetworkNamespace {
            // IPv6 has an address that leads nowhere.
            let server = try NameServer { _, wantsIPv6 in
                wantsIPv6 ? .ipv6([[0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 1, count: 12)]) : .ipv4([[127, 0, 0, 1]])
            }
            defer { withExtendedLifetime(server) {} }
            let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 1935))
            defer { withExtendedLifetime(listener) {} }
            return outcome { try Connector.connect(to: Endpoint(host: "live.example", port: 1935), timeouts: patient) }
        }
        #expect(result == .success("127.0.0.1:1935"))
    }

    @Test func connectsWithoutAnAnswerAboutIPv6() throws {
        let result = try inNetworkNamespace {
            let server = try NameServer { _, wantsIPv6 in wantsIPv6 ? .silence : .ipv4([[127, 0, 0, 1]]) }
            defer { withExtendedLifetime(server) {} }
            let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 1935))
            defer { withExtendedLifetime(listener) {} }
            return outcome { try Connector.connect(to: Endpoint(host: "live.example", port: 1935), timeouts: patient) }
        }
        #expect(result == .success("127.0.0.1:1935"))
    }

    @Test func reportsThatANameDoesNotExist() throws {
        let endpoint = Endpoint(host: "nowhere.example", port: 1935)
        let result = try inNetworkNamespace {
            let server = try NameServer { _, _ in .noSuchName }
            defer { withExtendedLifetime(server) {} }
            return outcome { try Connector.connect(to: endpoint, timeouts: patient) }
        }
        let error = TransportError.nameNotFound(endpoint, reason: "Name or service not known")
        #expect(result == .failure(error))
        #expect(error.code == -1300)
    }

    @Test func stopsWaitingForASilentNameServer() throws {
        let result = try inNetworkNamespace {
            let server = try NameServer { _, _ in .silence }
            defer { withExtendedLifetime(server) {} }
            return outcome { try Connector.connect(to: Endpoint(host: "live.example", port: 1935), timeouts: brief) }
        }
        let error = TransportError.timedOut(peer: "live.example:1935", .lookup)
        #expect(result == .failure(error))
        #expect(error.code == -1000)
    }

    /// The peer, and how long the lookup and the connection took.
    private static func secondsToConnect(_ server: () throws -> NameServer) throws -> (peer: String, seconds: Double) {
        let server = try server()
        defer { withExtendedLifetime(server) {} }
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 1935))
        defer { withExtendedLifetime(listener) {} }
        let start = MonotonicClock.now()
        let stream = try Connector.connect(to: Endpoint(host: "live.example", port: 1935), timeouts: patient)
        return (stream.peer, (MonotonicClock.now() - start).inSeconds)
    }

    /// As while a link comes up. The C library alone would ask twice, the second time after five seconds.
    @Test(arguments: [8, 20]) func lostNameQueriesAreRepeated(lostCount: Int) throws {
        let (peer, _) = try inNetworkNamespace {
            try Self.secondsToConnect {
                let count = Atomic(0)
                return try NameServer { _, wantsIPv6 in
                    guard count.add(1, ordering: .relaxed).newValue > lostCount else { return .silence }
                    return wantsIPv6 ? .ipv6([]) : .ipv4([[127, 0, 0, 1]])
                }
            }
        }
        #expect(peer == "127.0.0.1:1935")
    }

    /// The C library alone would wait for five seconds. A busy machine does not delay all three attempts.
    @Test func deadFirstNameServerCostsAtMostASecond() throws {
        var fastest = Double.infinity
        for _ in 0..<3 where fastest > 1.4 {
            let (peer, seconds) = try inNetworkNamespace {
                try shell(swallowingLink)
                return try Self.secondsToConnect {
                    try NameServer(behind: ["192.0.2.2"]) { _, wantsIPv6 in
                        wantsIPv6 ? .ipv6([]) : .ipv4([[127, 0, 0, 1]])
                    }
                }
            }
            #expect(peer == "127.0.0.1:1935")
            fastest = min(fastest, seconds)
        }
        #expect(fastest < 3, "\(fastest) s")
    }

    @Test func canBeCanceledDuringTheLookup() throws {
        let result = try inNetworkNamespace {
            let server = try NameServer { _, _ in .silence }
            defer { withExtendedLifetime(server) {} }
            let cancellation = try EventFD()
            cancellation.signal()
            return outcome {
                try Connector.connect(
                    to: Endpoint(host: "live.example", port: 1935), cancellation: cancellation.fileDescriptor)
            }
        }
        #expect(result == .failure(.canceled))
    }
}
