import Glibc
import LinuxIO
import Media
import Testing

@testable import Transport

private func connect(
    to server: TLSServer, authorityFile: String? = nil,
    timeouts: ConnectionTimeouts = ConnectionTimeouts(connect: .seconds(60), tlsHandshake: .seconds(60)),
    cancellation: EventFD? = nil
) throws -> TLSConnection {
    let context = try TLSContext(authorityFile: authorityFile ?? TestCertificates.shared.get().authority)
    let stream = try Connector.connect(
        to: server.endpoint, security: .tls(context), timeouts: timeouts,
        cancellation: cancellation?.fileDescriptor)
    guard let connection = stream as? TLSConnection else { throw SupportFailure(what: "no TLS") }
    return connection
}

/// Why TLS with this server is refused.
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
        #expect(client.tlsVersion == version)
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

    @Test func sendsTheServerName() throws {
        let directory = try TestCertificates.shared.get().directory
        // Only clients that ask for this name get the good certificate.
        let options = [
            "-servername", "localhost", "-servername_fatal", "-cert2", "\(directory)/good.crt", "-key2",
            "\(directory)/key",
        ]
        #expect(try refusal("otherhost", options) == nil)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func reportsAnExpiredCertificate(option: String) throws {
        let failure = try refusal("expired", [option])
        guard case .certificateExpired(let until, let now) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(until == "2021-01-02 03:04:05 UTC")
        #expect(now.hasPrefix("20") && now.hasSuffix(" UTC"))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func pointsToTheClockIfACertificateIsNotValidYet(option: String) throws {
        let failure = try refusal("future", [option])
        guard case .certificateNotYetValid(let from, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(from == "2039-01-02 03:04:05 UTC")
        #expect(failure?.description.contains("the clock is probably wrong; set it") == true)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func refusesACertificateForAnotherHost(option: String) throws {
        let names = ["other.example", "192.0.2.1"]
        #expect(try refusal("otherhost", [option]) == .wrongHost(expected: "localhost", names: names))
        #expect(
            try refusal("otherhost", host: "127.0.0.1", [option]) == .wrongHost(expected: "127.0.0.1", names: names))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func refusesASelfSignedCertificate(option: String) throws {
        #expect(try refusal("selfsigned", [option]) == .selfSigned(subject: "CN=localhost"))
    }

    @Test func trustsASelfSignedCertificateIfConfigured() throws {
        let server = try TLSServer(certificate: "selfsigned")
        let file = try TestCertificates.shared.get().directory + "/selfsigned.crt"
        #expect(try connect(to: server, authorityFile: file).tlsVersion == "TLSv1.3")
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
        guard case .handshake(let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains("TLS 1.2"))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func refusesAClientCertificate(option: String) throws {
        let failure = try refusal("clientonly", [option])
        guard case .certificateUnacceptable(let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains("extendedKeyUsage"))
    }

    @Test func movesManyBytesInBothDirections() throws {
        let server = try TLSServer(certificate: "good")
        let client = try connect(to: server)
        try send(Array("start\n".utf8), through: client)
        try server.process.waitForOutput("start\n")
        // The server's output stays unread until every buffer on the way is full.
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
            // A partly sent record is flushed without new data.
            var none = [UInt8](repeating: 0, count: 1)
            _ = try client.read(into: &none)
        }
        var expected: [UInt8] = []
        while expected.count < taken { expected += block }
        #expect(printed == expected[..<taken])
        #expect(client.pollEvents(hasBytesToWrite: false) == .readable)

        let digits = String(repeating: "0123456789", count: 20_000)
        server.process.say(digits)
        #expect(try receive(digits.utf8.count, from: client) == Array(digits.utf8))
    }

    @Test func callsAfterCloseThrow() throws {
        let client = try connect(to: TLSServer(certificate: "good"))
        client.close()
        client.close()
        #expect(client.fileDescriptor == -1)
        #expect(client.unsentByteCount == 0)
        #expect(throws: TransportError.canceled) { try client.write([1]) }
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(throws: TransportError.canceled) { try client.read(into: &buffer) }
    }
}
