import Bitstream
import LinuxIO
import Media
import RTMP
import Testing
import Transport
import WireSupport

@testable import Publishing

/// One RTMP connection on a scripted stream, served by the test's own thread.
@Suite struct PublishConnectionTests {
    private let packets = Packets(start: .zero)

    /// Serves the connection until the condition holds.
    /// - Returns: what was reported.
    private func serve(
        _ connection: PublishConnection, within timeout: Duration = .seconds(60), until condition: ([String]) -> Bool
    ) throws -> [String] {
        var names: [String] = []
        let end = MonotonicClock.now() + timeout
        while !condition(names) {
            try #require(MonotonicClock.now() < end, "\(names)")
            var waits = PollSet<String>()
            waits.add("connection", connection.fileDescriptor, for: connection.pollEvents)
            let soon = MonotonicClock.now() + .milliseconds(20)
            try waits.wait(until: connection.nextDeadline.map { min($0, soon) } ?? soon)
            names += try connection.service(ready: waits.ready("connection")).map(name)
        }
        return names
    }

    private func name(_ event: PublishConnection.Event) -> String {
        switch event {
        case .publishingStarted: "publishing"
        case .acknowledged: "acknowledged"
        case .reopeningWanted: "reopen"
        case .reconnectRequested(let url): "move to \(url.host)/\(url.application)"
        case .reconnectRefused: "move refused"
        case .stopped: "stopped"
        case .failed(let error): "failed \(error.code)"
        }
    }

    private func connection(
        to server: ScriptedServer, timeout: Duration = .seconds(60)
    ) throws -> PublishConnection {
        PublishConnection(stream: try server.connect(), configuration: .ofTests(timeout: timeout))
    }

    private func open(_ server: ScriptedServer) throws -> PublishConnection {
        let connection = try connection(to: server)
        _ = try connection.open()
        #expect(try serve(connection) { _ in connection.isPublishing } == ["publishing"])
        return connection
    }

    private func send(_ packet: EncodedPacket, on connection: PublishConnection) throws {
        _ = try connection.send(packet)
        _ = try serve(connection) { _ in connection.isIdle }
    }

    @Test func aStreamFromHandshakeToGoodbye() throws {
        let server = try ScriptedServer()
        let connection = try open(server)
        #expect(server[1].application == "live" && server[1].streamName == "key")
        _ = try connection.sendMetadata(at: .zero)
        try send(packets.header, on: connection)
        try send(packets.frame(0, isKeyframe: true, byteCount: 100_000), on: connection)
        try send(packets.frame(1), on: connection)
        var names = try connection.stop(within: .seconds(5)).map(name)
        names += try serve(connection) { $0.contains("stopped") }
        connection.close()
        #expect(names.filter { $0 != "acknowledged" } == ["stopped"])
        #expect(shortForm(server[1].tags) == ["header", "key 0", "frame 1"])
        #expect(server[1].tags.map(\.body.count) == [8, 100_005, 15] && server[1].tags.last?.timestamp == 20)
        #expect(server[1].metadata.contains(AMF0Property("width", .number(64))))
        #expect(becomesTrue { server[1].hasEnded && server[1].isClosed } && !server[1].isReset)
    }

    @Test(arguments: [1, 7, 1000]) func whatIsTakenInPortionsArrivesWhole(portion: Int) throws {
        let server = try ScriptedServer()
        let connection = try connection(to: server)
        server[1].wire?.content.withLock { $0.bytesPerWrite = portion }
        _ = try connection.open()
        _ = try serve(connection) { _ in connection.isPublishing }
        let frame = packets.frame(3, isKeyframe: true, byteCount: 5000)
        _ = try connection.send(frame)
        #expect(!connection.isIdle && connection.unsentByteCount > 3000)
        _ = try serve(connection) { _ in connection.isIdle }
        #expect(becomesTrue { server[1].tags.count == 1 })
        #expect(server[1].tags[0].body.dropFirst(5) == frame.payload[...])
        #expect(becomesTrue { connection.unacknowledgedByteCount == 0 })
        #expect(connection.unsentByteCount == 0)
    }

    @Test(arguments: [
        (ReceiveConfiguration.refusing(connect: "NetConnection.Connect.Rejected"), -1005),
        (.refusing(connect: "NetConnection.Connect.InvalidApp"), -1011),
        (.refusing(publish: "NetStream.Publish.BadName"), -1008),
    ]) func aRefusalIsAFailureWithItsCode(configuration: ReceiveConfiguration, code: Int) throws {
        let server = try ScriptedServer { _ in .accept(configuration) }
        let connection = try connection(to: server)
        _ = try connection.open()
        #expect(try serve(connection) { !$0.isEmpty } == ["failed \(code)"])
        #expect(!connection.isPublishing)
    }

    @Test(arguments: [true, false]) func anAnswerThatDoesNotComeIsNotWaitedForForEver(isToConnect: Bool) throws {
        let server = try ScriptedServer { _ in
            var silent = ReceiveConfiguration.ofTests
            if isToConnect { silent.connectAnswer = .silence } else { silent.publishAnswer = .silence }
            return .accept(silent)
        }
        let connection = try connection(to: server, timeout: .milliseconds(200))
        _ = try connection.open()
        #expect(try serve(connection) { !$0.isEmpty } == ["failed -1015"])
    }

    @Test func aHandshakeThatIsNotAnsweredIsNotWaitedForForEver() throws {
        let server = try ScriptedServer()
        let connection = try connection(to: server, timeout: .milliseconds(200))
        server.perform(.stopReading, on: 1)
        let start = MonotonicClock.now()
        _ = try connection.open()
        #expect(try serve(connection) { !$0.isEmpty } == ["failed -1015"])
        #expect(MonotonicClock.now() - start >= .milliseconds(200))
    }

    @Test func aServerThatClosesIsALostConnection() throws {
        let server = try ScriptedServer()
        let connection = try open(server)
        server.perform(.close, on: 1)
        #expect(try serve(connection) { !$0.isEmpty } == ["failed -1013"])
    }

    @Test func aServerThatResetsIsALostConnection() throws {
        let server = try ScriptedServer()
        let connection = try open(server)
        server.perform(.reset, on: 1)
        do {
            _ = try serve(connection) { _ in false }
        } catch let error as TransportError {
            #expect(error.code == -1013)
        }
    }

    @Test func garbageIsNoRTMP() throws {
        let server = try ScriptedServer()
        let connection = try open(server)
        server.perform(.send([UInt8](repeating: 0xFF, count: 4096)), on: 1)
        #expect(try serve(connection) { !$0.isEmpty } == ["failed -1012"])
    }

    /// Both sides announce what they like; neither acknowledges acknowledgements for ever.
    @Test func smallChunksAndWindowsAreNoObstacle() throws {
        let server = try ScriptedServer { _ in
            var small = ReceiveConfiguration.ofTests
            small.chunkSize = 1
            small.announcedWindow = 1
            return .accept(small)
        }
        let connection = try open(server)
        for number in 0..<20 {
            try send(packets.frame(number, isKeyframe: number == 0, byteCount: 20_000), on: connection)
        }
        let names = try serve(connection) { $0.contains("acknowledged") || server[1].tags.count == 20 }
        #expect(names.allSatisfy { $0 == "acknowledged" })
        #expect(becomesTrue { server[1].tags.count == 20 })
    }

    @Test func aServerAsksTheStreamToMove() throws {
        let server = try ScriptedServer()
        let connection = try open(server)
        server.perform(.reconnectRequest(tcURL: "rtmp://other.example/app"), on: 1)
        #expect(try serve(connection) { !$0.isEmpty } == ["move to other.example/app"])
        server.perform(.reconnectRequest(tcURL: nil), on: 1)
        #expect(try serve(connection) { !$0.isEmpty } == ["move to live.example/live"])
        server.perform(.reconnectRequest(tcURL: "http://other.example/app"), on: 1)
        #expect(try serve(connection) { !$0.isEmpty } == ["move refused"])
        try send(packets.frame(0, isKeyframe: true), on: connection)
        #expect(becomesTrue { server[1].tags.count == 1 })
    }

    @Test func theGoodbyeOfAServerThatDoesNotCloseIsBounded() throws {
        let server = try ScriptedServer()
        let connection = try open(server)
        server.perform(.stopReading, on: 1)
        let start = MonotonicClock.now()
        var names = try connection.stop(within: .milliseconds(300)).map(name)
        names += try serve(connection) { $0.contains("stopped") }
        #expect(MonotonicClock.now() - start >= .milliseconds(300))
    }

    /// A half-written message is not continued on the next connection.
    @Test func theSessionGoesOnWithAnotherConnectionFromItsStart() throws {
        let server = try ScriptedServer()
        let connection = try open(server)
        server[1].wire?.content.withLock { $0.bytesPerWrite = 100 }
        _ = try connection.send(packets.frame(0, isKeyframe: true, byteCount: 50_000))
        #expect(!connection.isIdle)
        _ = try connection.reopen(on: server.connect())
        #expect(try serve(connection) { !$0.isEmpty } == ["publishing"])
        #expect(becomesTrue { server[1].isClosed && server[2].isPublishing })
        try send(packets.frame(1, isKeyframe: true), on: connection)
        #expect(becomesTrue { shortForm(server[2].tags) == ["key 1"] })
        #expect(server[1].tags.isEmpty)
    }

    /// Other work of the thread gets its turn, and then reading goes on, though no descriptor asks for it.
    @Test func anEndlessSenderDoesNotKeepTheThread() throws {
        let stream = EndlessStream()
        let connection = PublishConnection(stream: stream, configuration: .ofTests(timeout: .seconds(5)))
        _ = try connection.open()
        _ = try connection.service(ready: .readable)
        let first = stream.readCount
        #expect(first > 0 && first < EndlessStream.mostReads)
        #expect(connection.nextDeadline == .zero)
        _ = try connection.service(ready: [])
        #expect(stream.readCount > first)
    }
}

/// A server that has always more to say.
private final class EndlessStream: ByteStream {
    /// A reader that gets this far would never stop.
    static let mostReads = 1000
    private(set) var readCount = 0

    let fileDescriptor: Int32 = -1
    let peer = "server:1935"
    let localAddress: SocketAddress? = nil
    let unsentByteCount = 0
    let unacknowledgedByteCount = 0
    let isUnanswered = false

    func pollEvents(hasBytesToWrite: Bool) -> PollEvents { .readable }

    func write(_ slices: UnsafeBufferPointer<UnsafeRawBufferPointer>) throws(TransportError) -> Int {
        slices.reduce(0) { $0 + $1.count }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> ReadResult {
        readCount += 1
        guard readCount < Self.mostReads else { return .closed }
        // RTMP's version, and then nothing that ends.
        buffer.initializeMemory(as: UInt8.self, repeating: 3)
        return .bytes(buffer.count)
    }

    func finishSending() {}
    func close() {}
    func abort() {}
}
