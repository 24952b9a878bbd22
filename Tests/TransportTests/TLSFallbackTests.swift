import LinuxIO
import Media
import Testing

@testable import Transport

/// Servers that Mbed TLS 3.6.6 fails with, because they sign with RSA-PSS under TLS 1.2.
@Suite struct TLSFallbackTests {
    /// A separate list, so that no other test affects it.
    private let servers = TLS12Servers()

    private func connect(to endpoint: Endpoint) throws -> TLSConnection {
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority, tls12Servers: servers)
        let connection = try Connector.connect(to: endpoint, security: .tls(context), timeouts: patient)
        guard let connection = connection as? TLSConnection else { throw SupportFailure(what: "no TLS") }
        return connection
    }

    private func failure(_ connect: () throws -> TLSConnection) throws -> TLSFailure? {
        do {
            _ = try connect()
            return nil
        } catch TransportError.tlsFailed(_, let failure) {
            return failure
        }
    }

    @Test func serverThatFollowsTheClientsOrderSignsWithPKCS1() throws {
        let server = try TLSServer(certificate: "rsa", ["-tls1_2"])
        let client = try connect(to: server.endpoint)
        #expect(client.tlsVersion == "TLSv1.2")
        #expect(client.fallbackReason == nil)
    }

    @Test func rsaKeyStillGetsTLS13() throws {
        let server = try TLSServer(certificate: "rsa", ["-serverpref"])
        #expect(try connect(to: server.endpoint).tlsVersion == "TLSv1.3")
    }

    @Test(arguments: [[], ["-cipher", "DHE-RSA-AES128-GCM-SHA256"]])
    func serverThatInsistsOnPSSGetsASecondOfferWithoutIt(options: [String]) throws {
        let server = try TLSServer(certificate: "rsa", ["-tls1_2", "-serverpref"] + options)
        let first = try connect(to: server.endpoint)
        #expect(first.tlsVersion == "TLSv1.2")
        #expect(first.fallbackReason?.hasPrefix("\(server.endpoint) speaks TLS 1.2 and signs with RSA-PSS") == true)
        try send(Array("good\n".utf8), through: first)
        try server.process.waitForOutput("good\n")
        first.close()
        // The server is known now: no second report, and only one attempt.
        let second = try connect(to: server.endpoint)
        #expect(second.tlsVersion == "TLSv1.2")
        #expect(second.fallbackReason == nil)
    }

    @Test func badCertificateDoesNotTriggerASecondOffer() throws {
        let server = try TLSServer(certificate: "rsa-expired", ["-tls1_2", "-serverpref", "-naccept", "1"])
        guard case .certificateExpired = try failure({ try connect(to: server.endpoint) }) else {
            Issue.record("not expired")
            return
        }
        #expect(!servers.contains(server.endpoint))
    }

    /// An alert, the end of the connection, a damaged message: the client never connects a second time.
    @Test(arguments: [[21, 3, 3, 0, 2, 2, 70], [21, 3, 3, 0, 2, 2, 47], [], [22, 3, 3, 0, 4, 12, 0, 0, 0]])
    func nothingElseTriggersASecondOffer(bytes: [UInt8]) throws {
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let endpoint = Endpoint(host: "127.0.0.1", port: listener.port)
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority, tls12Servers: servers)
        let connector = try Connector(to: endpoint, security: .tls(context), now: MonotonicClock.now())
        var accepted: [TCPConnection] = []
        let error = try #require(
            transportError {
                while try connector.advance(now: MonotonicClock.now()) == nil {
                    if let connection = try listener.accept() { accepted.append(connection) }
                    var hello = [UInt8](repeating: 0, count: 4096)
                    if let server = accepted.last, case .bytes = try server.read(into: &hello) {
                        try send(bytes, through: server)
                        server.close()
                    }
                    var entries = connector.pollEntries
                    entries.append(PollEntry(accepted.last?.fileDescriptor ?? listener.fileDescriptor))
                    try poll(&entries, until: connector.deadline)
                }
            })
        guard case .tlsFailed = error else {
            Issue.record("\(error)")
            return
        }
        #expect(try listener.accept() == nil)
        #expect(accepted.count == 1)
        #expect(!servers.contains(endpoint))
    }

    /// Either an attacker made the server look older, or the server was upgraded.
    @Test func serverThatSupportsTLS13MustNotBeDowngraded() throws {
        let server = try TLSServer(certificate: "rsa")
        #expect(servers.insert(server.endpoint))
        #expect(try failure { try connect(to: server.endpoint) } == .downgraded)
        #expect(try connect(to: server.endpoint).tlsVersion == "TLSv1.3")
    }

    @Test func listOfKnownServersIsBounded() {
        let all = (0...TLS12Servers.limit).map { Endpoint(host: "host\($0)", port: 443) }
        for endpoint in all { #expect(servers.insert(endpoint)) }
        #expect(!servers.insert(all[1]))
        #expect(!servers.contains(all[0]))
        #expect(all.dropFirst().allSatisfy { servers.contains($0) })
        servers.remove(all[1])
        #expect(!servers.contains(all[1]))
    }
}

@Suite struct ServerKeyExchangeTests {
    /// ECDHE on a named curve with a 65-byte point, and DHE with 2048 bits.
    private static let bodies: [[UInt8]] = [
        [3, 0, 23, 65] + [UInt8](repeating: 4, count: 65),
        [1, 0] + [UInt8](repeating: 0xff, count: 256) + [0, 1, 2, 1, 0] + [UInt8](repeating: 7, count: 256),
    ]

    private func message(_ body: [UInt8], scheme: [UInt8]) -> [UInt8] {
        let whole = body + scheme + [1, 0] + [UInt8](repeating: 0xaa, count: 256)
        return [12, 0, UInt8(whole.count >> 8), UInt8(whole.count & 0xff)] + whole
    }

    @Test(arguments: bodies) func findsTheSignatureScheme(body: [UInt8]) {
        #expect(ServerKeyExchange(message(body, scheme: [8, 6]))?.signatureScheme == 0x0806)
        for scheme in [4, 5, 6] as [UInt8] {
            #expect(ServerKeyExchange(message(body, scheme: [8, scheme]))?.isSignedWithPSS == true)
            #expect(ServerKeyExchange(message(body, scheme: [scheme, 1]))?.isSignedWithPSS == false)
        }
        #expect(ServerKeyExchange(message(body, scheme: [8, 7]))?.isSignedWithPSS == false)
    }

    @Test(arguments: bodies) func rejectsTruncatedMessages(body: [UInt8]) {
        let whole = message(body, scheme: [8, 4])
        for count in 0..<whole.count { #expect(ServerKeyExchange(Array(whole[..<count])) == nil) }
        #expect(ServerKeyExchange(whole + [0]) == nil)
        #expect(ServerKeyExchange([11] + whole.dropFirst()) == nil)
    }
}

/// The transport error that the body throws, if any.
private func transportError(_ body: () throws -> Void) -> TransportError? {
    do {
        try body()
        return nil
    } catch {
        return error as? TransportError
    }
}
