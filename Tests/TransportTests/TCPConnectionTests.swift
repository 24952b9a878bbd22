import Glibc
import LinuxIO
import Media
import Testing

@testable import Transport

/// Both ends of a connection over loopback.
func connectedPair(settings: TCPSettings = TCPSettings()) throws -> (client: any ByteStream, server: TCPConnection) {
    let listener = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
    let client = try Connector.connect(
        to: Endpoint(host: "127.0.0.1", port: listener.port), settings: settings)
    return (client, try accept(listener))
}

/// Waits for a connection.
func accept(_ listener: TCPListener) throws -> TCPConnection {
    while true {
        if let connection = try listener.accept() { return connection }
        var entries = [PollEntry(listener.fileDescriptor)]
        try poll(&entries, until: nil)
    }
}

/// Waits for and reads this many bytes; fewer if the stream ends.
func receive(_ count: Int, from stream: any ByteStream) throws -> [UInt8] {
    var received: [UInt8] = []
    while received.count < count {
        var block = [UInt8](repeating: 0, count: count - received.count)
        switch try stream.read(into: &block) {
        case .bytes(let count): received += block[..<count]
        case .closed: return received
        case .wouldBlock:
            var entries = [PollEntry(stream.fileDescriptor, stream.pollEvents(hasBytesToWrite: false))]
            try poll(&entries, until: nil)
        }
    }
    return received
}

/// Writes everything, waiting for room.
func send(_ bytes: [UInt8], through stream: any ByteStream) throws {
    var sent = 0
    while sent < bytes.count || stream.pollEvents(hasBytesToWrite: false).contains(.writable) {
        sent += try stream.write(Array(bytes[sent...]))
        var entries = [PollEntry(stream.fileDescriptor, .writable)]
        try poll(&entries, until: nil)
    }
}

/// Waits until the peer has made the stream readable.
func waitUntilReadable(_ stream: any ByteStream) throws {
    var entries = [PollEntry(stream.fileDescriptor)]
    try poll(&entries, until: nil)
}

@Suite struct TCPConnectionTests {
    @Test func carriesBytesBothWays() throws {
        let (client, server) = try connectedPair()
        try send([1, 2, 3], through: client)
        #expect(try receive(3, from: server) == [1, 2, 3])
        try send([4, 5], through: server)
        #expect(try receive(2, from: client) == [4, 5])
        var none = [UInt8](repeating: 0, count: 10)
        #expect(try client.read(into: &none) == .wouldBlock)
        var empty: [UInt8] = []
        #expect(try client.read(into: &empty) == .wouldBlock)
        #expect(client.peer.hasPrefix("127.0.0.1:"))
        #expect((client as? TCPConnection)?.localAddress?.host == "127.0.0.1")
    }

    @Test func sendsSlicesInOrder() throws {
        let (client, server) = try connectedPair()
        // More slices than fit into one call, some of them empty.
        let parts = (0..<150).map { [UInt8](repeating: UInt8($0), count: $0 % 4) }
        let pointers = parts.map { part in
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: part.count, alignment: 1)
            copy.copyBytes(from: part)
            return UnsafeRawBufferPointer(copy)
        }
        defer { pointers.forEach { $0.deallocate() } }
        let first = try pointers.withUnsafeBufferPointer { try client.write($0) }
        #expect(first == parts[..<64].joined().count)
        let second = try pointers[64...].withUnsafeBufferPointer { try client.write($0) }
        #expect(second == parts[64..<128].joined().count)
        #expect(try receive(first + second, from: server) == Array(parts[..<128].joined()))
        #expect(try client.write(UnsafeBufferPointer(start: nil, count: 0)) == 0)
    }

    @Test func boundsAndMeasuresTheQueueOfAStuckPeer() throws {
        var settings = TCPSettings()
        settings.sendBufferByteCount = 64 * 1024
        let (client, server) = try connectedPair(settings: settings)
        #expect(client.unsentByteCount == 0)
        let block = [UInt8](repeating: 9, count: 32 * 1024)
        var taken = 0
        // The peer does not read: first its window fills, then the queue here.
        while true {
            let count = try client.write(block)
            taken += count
            guard count == 0 else { continue }
            var entries = [PollEntry(client.fileDescriptor, .writable)]
            if try poll(&entries, until: MonotonicClock.now() + .milliseconds(300)) == 0 { break }
        }
        #expect(client.unsentByteCount > 0)
        #expect(client.unsentByteCount <= settings.unsentLowWaterByteCount + block.count)
        #expect(client.unacknowledgedByteCount >= client.unsentByteCount)
        // The kernel doubles SO_SNDBUF for bookkeeping.
        #expect(client.unacknowledgedByteCount <= 2 * settings.sendBufferByteCount)

        #expect(try receive(taken, from: server).count == taken)
        while client.unacknowledgedByteCount > 0 {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(1))
        }
        #expect(client.unsentByteCount == 0)
    }

    @Test func distinguishesAnOrderlyEndFromAReset() throws {
        let (client, server) = try connectedPair()
        server.close()
        try waitUntilReadable(client)
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(try client.read(into: &buffer) == .closed)

        let (reset, resetter) = try connectedPair()
        // Closing with unread bytes resets the connection.
        try send([1], through: reset)
        try waitUntilReadable(resetter)
        resetter.close()
        try waitUntilReadable(reset)
        let cut = TransportError.closedByPeer(peer: reset.peer, SystemCallError("recv", number: ECONNRESET))
        #expect(throws: cut) { try reset.read(into: &buffer) }
        #expect(cut.code == -1013)
        #expect(cut.description == "the connection to \(reset.peer) was cut: Connection reset by peer")
        // A second error on the same socket: EPIPE, without the signal that would kill this process.
        let broken = TransportError.closedByPeer(peer: reset.peer, SystemCallError("sendmsg", number: EPIPE))
        #expect(throws: broken) { try reset.write([1]) }
    }

    @Test func callsAfterCloseThrow() throws {
        let (client, server) = try connectedPair()
        client.close()
        client.close()
        #expect(client.fileDescriptor == -1)
        #expect(client.unsentByteCount == 0)
        #expect(throws: TransportError.canceled) { try client.write([1]) }
        var buffer = [UInt8](repeating: 0, count: 1)
        #expect(throws: TransportError.canceled) { try client.read(into: &buffer) }
        #expect(try receive(1, from: server) == [])
    }

    @Test func peerThatAcceptsNoDataCountsAsDead() throws {
        var settings = TCPSettings()
        settings.userTimeout = .milliseconds(500)
        let (client, server) = try connectedPair(settings: settings)
        defer { server.close() }
        let block = [UInt8](repeating: 9, count: 32 * 1024)
        let error = TransportError.timedOut(peer: client.peer, .transfer)
        #expect(throws: error) {
            while true {
                var entries = [PollEntry(client.fileDescriptor, .writable)]
                try poll(&entries, until: nil)
                _ = try client.write(block)
            }
        }
        #expect(error.description.hasSuffix("no longer answers: it has stopped acknowledging"))
    }

    @Test func detectsADeadPeer() throws {
        let error = try inNetworkNamespace { () -> TransportError? in
            var settings = TCPSettings()
            settings.userTimeout = .milliseconds(300)
            let (client, server) = try connectedPair(settings: settings)
            defer { server.close() }
            // Each packet is larger than the bucket, so the link drops everything.
            try shell("tc qdisc add dev lo root tbf rate 8kbit burst 10 limit 10000")
            do {
                try send([1], through: client)
                _ = try receive(1, from: client)
                return nil
            } catch let error as TransportError {
                return error
            }
        }
        guard case .timedOut(_, .transfer) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.code == -1015)
    }
}

@Suite struct TCPListenerTests {
    @Test func listensOnIPv6() throws {
        let listener = try TCPListener(Endpoint(host: "::1", port: 0))
        #expect(listener.localAddress.description == "[::1]:\(listener.port)")
        #expect(try listener.accept() == nil)
        let client = try Connector.connect(to: Endpoint(host: "::1", port: listener.port))
        #expect(try accept(listener).peer.hasPrefix("[::1]:"))
        client.close()
    }

    @Test func reportsWhichAddressIsInUse() throws {
        let first = try TCPListener(Endpoint(host: "127.0.0.1", port: 0))
        let address = "127.0.0.1:\(first.port)"
        let error = TransportError.socketFailed(SystemCallError("bind", number: EADDRINUSE, subject: address))
        #expect(throws: error) { try TCPListener(Endpoint(host: "127.0.0.1", port: first.port)) }
        #expect(error.description.contains("bind \(address): Address already in use"))
    }

    @Test func refusesAnAddressOfAnotherMachine() {
        let error = SystemCallError("bind", number: EADDRNOTAVAIL, subject: "192.0.2.1:0")
        #expect(throws: TransportError.socketFailed(error)) { try TCPListener(Endpoint(host: "192.0.2.1", port: 0)) }
    }
}
