import LinuxIO
import Media
import Testing

@testable import Transport

@Suite struct TLSHandshakeFaultTests {
    /// The result of a handshake with a server that sends something else, or nothing, and then closes.
    func outcome(serverSays bytes: [UInt8]) throws -> TransportError? {
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        let connector = try Connector(
            to: Endpoint(host: "127.0.0.1", port: listener.port), security: .tls(context), now: MonotonicClock.now())
        var server: TCPConnection?
        do {
            while try connector.advance(now: MonotonicClock.now()) == nil {
                if let server {
                    // Read the client's message, or closing would reset the connection.
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

    @Test func reportsThatAServerDoesNotSpeakTLS() throws {
        let error = try outcome(serverSays: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        guard case .tlsFailed(_, .handshake(let reason)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("does not speak TLS"))
    }

    @Test func reportsThatAServerHangsUp() throws {
        guard case .tlsFailed(_, let failure) = try outcome(serverSays: []) else {
            Issue.record("no TLS failure")
            return
        }
        guard case .handshake(let reason) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(reason.hasPrefix("the server closed the connection without an answer; if it expects RTMP without TLS"))
    }

    @Test func recognizesAnRTMPServer() throws {
        let answer = [3] + [UInt8](repeating: 0, count: 3072)
        guard case .tlsFailed(_, .handshake(let reason)) = try outcome(serverSays: answer) else {
            Issue.record("no TLS failure")
            return
        }
        #expect(reason == "the server speaks RTMP without TLS on this port; start the URL with rtmp://")
    }

    @Test func explainsAnAlert() throws {
        // A fatal alert (RFC 8446 section 6), unrecognized_name.
        guard case .tlsFailed(_, .handshake(let reason)) = try outcome(serverSays: [21, 3, 3, 0, 2, 2, 112]) else {
            Issue.record("no TLS failure")
            return
        }
        #expect(reason.contains("unrecognized name"))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func reportsThatAServerWantsAClientCertificate(option: String) throws {
        let server = try TLSServer(certificate: "good", ["-Verify", "1", option])
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        let error = transportError {
            let client = try Connector.connect(to: server.endpoint, security: .tls(context), timeouts: patient)
            // The refusal comes after the handshake, while media is being sent.
            try shell("sleep 0.3")
            for _ in 0..<100 { _ = try client.write([UInt8](repeating: 1, count: 10_000)) }
            _ = try receive(1, from: client)
        }
        guard case .tlsFailed(_, .handshake(let reason)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("client certificate"))
    }

    @Test func stopsWaitingForASilentServer() throws {
        // The kernel connects, but nothing accepts.
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let endpoint = Endpoint(host: "127.0.0.1", port: listener.port)
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        var timeouts = ConnectionTimeouts()
        timeouts.tlsHandshake = .milliseconds(200)
        #expect(throws: TransportError.timedOut(peer: endpoint.description, .tlsHandshake)) {
            try Connector.connect(to: endpoint, security: .tls(context), timeouts: timeouts)
        }
    }

    @Test func canBeCanceledDuringTheHandshake() throws {
        let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        let cancellation = try EventFD()
        _ = try NamedThread("canceller") {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(100))
            cancellation.signal()
        }
        #expect(throws: TransportError.canceled) {
            try Connector.connect(
                to: Endpoint(host: "127.0.0.1", port: listener.port), security: .tls(context),
                timeouts: ConnectionTimeouts(tlsHandshake: .seconds(60)), cancellation: cancellation.fileDescriptor)
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func acceptsInputByteByByte(option: String) throws {
        let server = try TLSServer(certificate: "good", [option])
        let relay = try Relay(to: server.endpoint.port, chunkSize: 1)
        let client = try connect(through: relay)
        server.process.say("still whole")
        #expect(try receive(12, from: client) == Array("still whole\n".utf8))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func detectsADamagedRecord(option: String) throws {
        let server = try TLSServer(certificate: "good", [option])
        let relay = try Relay(to: server.endpoint.port)
        let client = try connect(through: relay)
        server.process.say("good")
        #expect(try receive(5, from: client) == Array("good\n".utf8))
        relay.startDamage()
        server.process.say("bad")
        let error = transportError { _ = try receive(4, from: client) }
        guard case .tlsFailed(_, .protocolViolation) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private func connect(through relay: Relay) throws -> any ByteStream {
        let context = try TLSContext(authorityFile: TestCertificates.shared.get().authority)
        return try Connector.connect(
            to: Endpoint(host: "localhost", port: relay.port), security: .tls(context), timeouts: patient)
    }
}

@Suite struct TLSContextTests {
    @Test func usesTheSystemsAuthorities() throws {
        let authority = try TestCertificates.shared.get().authority
        let file = try inNetworkNamespace {
            try shell(
                "cp \(authority) /tmp/$$.crt; mount -t tmpfs none /etc/ssl; mkdir /etc/ssl/certs; "
                    + "mv /tmp/$$.crt /etc/ssl/certs/ca-certificates.crt")
            return try TLSContext().authorityFile
        }
        #expect(file == "/etc/ssl/certs/ca-certificates.crt")
    }

    /// A context that two calls in a row return; other tests may ask for other files in between.
    private func kept(_ file: String) throws -> TLSContext {
        for _ in 0..<100 {
            let context = try TLSContext.shared(authorityFile: file)
            if try TLSContext.shared(authorityFile: file) === context { return context }
        }
        throw TransportError.tlsUnavailable(reason: "it is parsed each time")
    }

    /// Parsing a bundle of a hundred certificates for every attempt would cost a board tens of milliseconds.
    @Test func parsesAFileOnlyOnceUntilItChanges() throws {
        let certificates = try TestCertificates.shared.get()
        let bundle = try readFile(certificates.authority, limit: 1 << 20)
        let file = certificates.directory + "/authorities-that-change.pem"
        try replaceFile(file, with: bundle)
        let first = try kept(file)
        try replaceFile(file, with: bundle + bundle)
        let second = try kept(file)
        #expect(second !== first)
        try replaceFile(file, with: [])
        #expect(transportError { _ = try TLSContext.shared(authorityFile: file) }?.code == -1201)
        try replaceFile(file, with: bundle)
        #expect(try TLSContext.shared(authorityFile: file) !== second)
        #expect(transportError { _ = try TLSContext.shared(authorityFile: file + ".none") }?.code == -1201)
    }

    @Test func sharedContextServesSeveralThreads() throws {
        let authority = try TestCertificates.shared.get().authority
        let threads = try (0..<8).map { _ in
            let done = try EventFD()
            _ = try NamedThread("context") {
                for _ in 0..<50 where (try? TLSContext.shared(authorityFile: authority)) == nil { return }
                done.signal()
            }
            return done
        }
        for done in threads {
            var entries = [PollEntry(done.fileDescriptor)]
            #expect(try poll(&entries, until: MonotonicClock.now() + .seconds(120)) > 0)
        }
    }

    @Test func reportsThatTheSystemHasNoAuthorities() throws {
        let error = try inNetworkNamespace {
            try shell("mount -t tmpfs none /etc/ssl")
            return transportError { _ = try TLSContext() }
        }
        #expect(error?.code == -1201)
        #expect(error?.description.contains("/etc/ssl/certs/ca-certificates.crt") == true)
    }

    @Test func reportsThatAGivenFileIsUnusable() throws {
        let missing = transportError { _ = try TLSContext(authorityFile: "/none/ca.pem") }
        #expect(missing?.description.contains("open /none/ca.pem: No such file or directory") == true)
        let key = try TestCertificates.shared.get().directory + "/key"
        let wrong = transportError { _ = try TLSContext(authorityFile: key) }
        #expect(wrong?.description.contains("\(key) contains no readable certificate") == true)
        #expect(transportError { _ = try TLSContext(authorityFile: "/dev/null") }?.code == -1201)
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
