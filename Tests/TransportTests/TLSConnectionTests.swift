import Glibc
import LinuxIO
import Media
import Testing

@testable import Transport

private func connect(
    to server: TLSServer, authorityFile: String? = nil, limits: ConnectionLimits = ConnectionLimits(),
    cancellation: EventFD? = nil
) throws -> TLSConnection {
    let context = try TLSContext(authorityFile: authorityFile ?? TestCertificates.shared.get().authority)
    let stream = try Connector.connect(
        to: server.endpoint, security: .tls(context), limits: limits, cancellation: cancellation)
    guard let connection = stream as? TLSConnection else { throw SupportFailure(what: "no TLS") }
    return connection
}

/// Why TLS with such a server is refused.
private func refusal(_ certificate: String, host: String = "localhost", _ options: [String] = []) throws -> TLSFailure?
{
    let server = try TLSServer(certificate: certificate, host: host, options)
    do {
        _ = try connect(to: server)
        return nil
    } catch TransportError.tlsFailed(let endpoint, let failure) {
        #expect(endpoint == server.endpoint)
        return failure
    }
}

@Suite struct TLSConnectionTests {
    @Test(arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
    func carriesBytesBothWays(option: String, version: String) throws {
        let server = try TLSServer(certificate: "good", [option])
        let client = try connect(to: server)
        #expect(client.version == version)
        try send(Array("to the server\n".utf8), through: client)
        try server.process.waitForOutput("to the server\n")
        server.process.say("to the client")
        #expect(try receive(14, from: client) == Array("to the client\n".utf8))
        var none = [UInt8](repeating: 0, count: 4)
        #expect(try client.read(into: &none) == .wouldBlock)
        #expect(client.pollEvents(hasBytesToWrite: false) == .readable)
        // s_server's command for an orderly end.
        server.process.say("Q")
        try waitUntilReadable(client)
        #expect(try client.read(into: &none) == .closed)
    }

    @Test(arguments: ["localhost", "127.0.0.1"]) func acceptsTheHostOfTheCertificate(host: String) throws {
        #expect(try refusal("good", host: host) == nil)
    }

    @Test func asksForTheServerByName() throws {
        let directory = try TestCertificates.shared.get().directory
        // The good certificate is given only to those that ask for its name.
        let options = [
            "-servername", "localhost", "-servername_fatal", "-cert2", "\(directory)/good.crt", "-key2",
            "\(directory)/key",
        ]
        #expect(try refusal("otherhost", options) == nil)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func saysThatACertificateHasEnded(option: String) throws {
        let failure = try refusal("expired", [option])
        guard case .certificateExpired(let until, let now) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(until == "2021-01-02 03:04:05 UTC")
        #expect(now.hasPrefix("20") && now.hasSuffix(" UTC"))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func pointsToTheClockWhenACertificateHasNotBegun(option: String) throws {
        let failure = try refusal("future", [option])
        guard case .certificateNotYetValid(let from, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(from == "2039-01-02 03:04:05 UTC")
        #expect(failure?.description.contains("the clock is probably wrong, set it") == true)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func refusesAnotherHost(option: String) throws {
        let names = ["other.example", "192.0.2.1"]
        #expect(try refusal("otherhost", [option]) == .wrongHost(expected: "localhost", names: names))
        #expect(
            try refusal("otherhost", host: "127.0.0.1", [option]) == .wrongHost(expected: "127.0.0.1", names: names))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func refusesASelfSignedCertificate(option: String) throws {
        #expect(try refusal("selfsigned", [option]) == .selfSigned(subject: "CN=localhost"))
    }

    @Test func trustsASelfSignedCertificateThatIsGiven() throws {
        let server = try TLSServer(certificate: "selfsigned")
        let file = try TestCertificates.shared.get().directory + "/selfsigned.crt"
        #expect(try connect(to: server, authorityFile: file).version == "TLSv1.3")
    }

    @Test func refusesAnUnknownAuthority() throws {
        let server = try TLSServer(certificate: "good")
        let error = TransportError.tlsFailed(server.endpoint, .unknownAuthority(issuer: "CN=Test Authority"))
        let file = try TestCertificates.shared.get().directory + "/selfsigned.crt"
        #expect(throws: error) { try connect(to: server, authorityFile: file) }
        #expect(error.code == -1200)
    }

    @Test func refusesAnOldProtocol() throws {
        let failure = try refusal("good", ["-tls1_1", "-cipher", "ALL@SECLEVEL=0"])
        guard case .handshake = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func movesManyBytesInBothDirections() throws {
        let server = try TLSServer(certificate: "good")
        let client = try connect(to: server)
        try send(Array("begin\n".utf8), through: client)
        try server.process.waitForOutput("begin\n")
        // What the server prints goes unread until everything on the way is full.
        let block = try randomBytes(count: 20_011)
        var taken = 0
        while true {
            let rest = block[(taken % block.count)...]
            let count = try client.write(Array(rest))
            #expect(count <= rest.count)
            taken += count
            guard count == 0 else { continue }
            #expect(client.pollEvents(hasBytesToWrite: true).contains(.writable))
            var entries = [PollEntry(client.fileDescriptor, .writable)]
            if try poll(&entries, until: MonotonicClock.now() + .milliseconds(500)) == 0 { break }
        }
        #expect(client.unsentByteCount > 0)
        #expect(client.unacknowledgedByteCount >= client.unsentByteCount)

        let printed = try server.process.readOutput(taken) {
            // A record that was taken half goes out without anything new to send.
            _ = try client.write([])
        }
        var expected: [UInt8] = []
        while expected.count < taken { expected += block }
        #expect(printed == expected[..<taken])
        #expect(client.pollEvents(hasBytesToWrite: false) == .readable)

        let digits = String(repeating: "0123456789", count: 20_000)
        server.process.say(digits)
        #expect(try receive(digits.utf8.count, from: client) == Array(digits.utf8))
    }

    @Test func isOfNoUseAfterClose() throws {
        let client = try connect(to: TLSServer(certificate: "good"))
        client.close()
        client.close()
        #expect(client.fileDescriptor == -1)
        #expect(client.unsentByteCount == 0)
        #expect(throws: TransportError.cancelled) { try client.write([1]) }
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(throws: TransportError.cancelled) { try client.read(into: &buffer) }
    }
}

@Suite struct TLSHandshakeFaultTests {
    /// What comes of a handshake with a server that says something else, or nothing, and then ends.
    func outcome(serverSays bytes: [UInt8]) throws -> TransportError? {
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        let connector = try Connector(
            to: Endpoint(host: "127.0.0.1", port: listener.port), security: .tls(context), now: MonotonicClock.now())
        var server: TCPConnection?
        do {
            while try connector.advance(now: MonotonicClock.now()) == nil {
                if let server {
                    // Read what came, or the end would be a reset.
                    var hello = [UInt8](repeating: 0, count: 4096)
                    if case .bytes = try server.read(into: &hello) {
                        try send(bytes, through: server)
                        server.close()
                    }
                } else {
                    server = try listener.accept()
                }
                var entries = connector.pollEntries
                entries.append(PollEntry(server?.fileDescriptor ?? listener.fileDescriptor))
                try poll(&entries, until: connector.deadline)
            }
            return nil
        } catch let error as TransportError {
            return error
        }
    }

    @Test func saysThatAServerSpeaksNoTLS() throws {
        let error = try outcome(serverSays: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        guard case .tlsFailed(_, .handshake(let reason)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("does not speak TLS"))
    }

    @Test func saysThatAServerHangsUp() throws {
        guard case .tlsFailed(_, let failure) = try outcome(serverSays: []) else {
            Issue.record("no TLS failure")
            return
        }
        #expect(failure == .handshake(reason: "the server closed the connection"))
    }

    @Test func saysWhatAnAlertMeans() throws {
        // A fatal alert (RFC 8446 section 6), unrecognized_name.
        guard case .tlsFailed(_, .handshake(let reason)) = try outcome(serverSays: [21, 3, 3, 0, 2, 2, 112]) else {
            Issue.record("no TLS failure")
            return
        }
        #expect(reason.contains("alert"))
    }

    @Test func stopsWaitingForASilentServer() throws {
        // The kernel connects, nobody accepts.
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let endpoint = Endpoint(host: "127.0.0.1", port: listener.port)
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        var limits = ConnectionLimits()
        limits.tlsHandshake = .milliseconds(200)
        #expect(throws: TransportError.timedOut(peer: endpoint.description, .tlsHandshake)) {
            try Connector.connect(to: endpoint, security: .tls(context), limits: limits)
        }
    }

    @Test func isCancelledInTheHandshake() throws {
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        let cancellation = try EventFD()
        _ = try NamedThread("canceller") {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(100))
            cancellation.signal()
        }
        #expect(throws: TransportError.cancelled) {
            try Connector.connect(
                to: Endpoint(host: "127.0.0.1", port: listener.port), security: .tls(context),
                cancellation: cancellation)
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func takesItsInputByteByByte(option: String) throws {
        let server = try TLSServer(certificate: "good", [option])
        let relay = try Relay(to: server.endpoint.port, chunkSize: 1)
        let client = try connect(through: relay)
        server.process.say("still whole")
        #expect(try receive(12, from: client) == Array("still whole\n".utf8))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func noticesADamagedRecord(option: String) throws {
        let server = try TLSServer(certificate: "good", [option])
        let relay = try Relay(to: server.endpoint.port)
        let client = try connect(through: relay)
        server.process.say("good")
        #expect(try receive(5, from: client) == Array("good\n".utf8))
        relay.beginDamage()
        server.process.say("bad")
        let error = transportError { _ = try receive(4, from: client) }
        guard case .tlsFailed(_, .protocolViolation) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private func connect(through relay: Relay) throws -> any ByteStream {
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        return try Connector.connect(to: Endpoint(host: "localhost", port: relay.port), security: .tls(context))
    }
}

@Suite struct TLSContextTests {
    @Test func takesTheSystemsAuthorities() throws {
        let authority = try TestCertificates.shared.get().authority
        let file = try inNetworkNamespace {
            try shell(
                "cp \(authority) /tmp/$$.crt; mount -t tmpfs none /etc/ssl; mkdir /etc/ssl/certs; "
                    + "mv /tmp/$$.crt /etc/ssl/certs/ca-certificates.crt")
            return try TLSContext().authorityFile
        }
        #expect(file == "/etc/ssl/certs/ca-certificates.crt")
    }

    @Test func saysThatTheSystemHasNoAuthorities() throws {
        let error = try inNetworkNamespace {
            try shell("mount -t tmpfs none /etc/ssl")
            return transportError { _ = try TLSContext() }
        }
        #expect(error?.code == -1201)
        #expect(error?.description.contains("/etc/ssl/certs/ca-certificates.crt") == true)
    }

    @Test func saysThatAGivenFileIsOfNoUse() throws {
        let missing = transportError { _ = try TLSContext(authorityFile: "/none/ca.pem") }
        #expect(missing?.description.contains("open /none/ca.pem: No such file or directory") == true)
        let key = try TestCertificates.shared.get().directory + "/key"
        let wrong = transportError { _ = try TLSContext(authorityFile: key) }
        #expect(wrong?.description.contains("\(key) holds no certificate in PEM") == true)
        #expect(transportError { _ = try TLSContext(authorityFile: "/dev/null") }?.code == -1201)
    }
}

/// The transport error that comes out of the body, if one does.
private func transportError(_ body: () throws -> Void) -> TransportError? {
    do {
        try body()
        return nil
    } catch {
        return error as? TransportError
    }
}
