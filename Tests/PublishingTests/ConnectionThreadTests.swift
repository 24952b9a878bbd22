import Encoding
import LinuxIO
import Media
import MediaPipeline
import MediaTestSupport
import PipelineSupport
import RTMP
import StreamQuality
import Synchronization
import Testing
import Transport
import WireSupport

@testable import Publishing
@testable import StreamLogic

/// A connection's thread between a send buffer and a scripted server.
@Suite struct ConnectionThreadTests {
    private let time = VirtualTime()
    private let server: ScriptedServer
    private let publisher: ThreadUnderTest

    init() throws {
        (server, publisher) = try time.run { (try ScriptedServer(), try ThreadUnderTest()) }
    }

    /// Publishes on the server, and sends media from now on.
    private func publish(headers: [EncodedPacket] = []) throws {
        try publisher.start(on: server)
        try publisher.expect("connected")
        publisher.commands.send(.startHandshake(.ofTests))
        try publisher.expect("publishing")
        publisher.commands.send(.startMedia(timeZero: publisher.packets.start, headers: headers))
    }

    @Test func theHandshakeWaitsForItsOrder() throws {
        try time.run {
            try publisher.start(on: server)
            try publisher.expect("connected")
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(200))
            #expect(server[1].receivedByteCount == 0)
            publisher.commands.send(.startHandshake(.ofTests))
            try publisher.expect("publishing")
            #expect(publisher.names == ["connected", "publishing"])
        }
    }

    @Test func mediaGoesOutBehindMetadataAndHeadersUntilTheGoodbye() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header])
            publisher.append((0..<20).map { publisher.packets.frame($0, isKeyframe: $0 % 10 == 0) })
            #expect(becomesTrue { server[1].tags.count == 21 })
            let frames = (0..<20).map { (number: Int) -> String in "\(number % 10 == 0 ? "key" : "frame") \(number)" }
            let times = (0..<20).map { (number: Int) -> UInt32 in UInt32(number) * 20 }
            #expect(shortForm(server[1].tags) == ["header"] + frames)
            #expect(server[1].tags.map(\.timestamp) == [0] + times)
            #expect(!server[1].metadata.isEmpty)
            #expect(publisher.queue.sent.sentFrames == 20)
            publisher.commands.send(.close)
            try publisher.expect("closed")
            #expect(server[1].hasEnded && !server[1].isReset)
        }
    }

    @Test func everythingWasSent() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            publisher.hub.trackEnded()
            try publisher.expect("drained")
            #expect(becomesTrue { server[1].tags.count == 2 })
        }
    }

    @Test(arguments: [
        (ScriptedServer.Answer.accept(.refusing(connect: "NetConnection.Connect.Rejected")), -1005, false),
        (.accept(.refusing(connect: "NetConnection.Connect.InvalidApp")), -1011, true),
        (.accept(.refusing(publish: "NetStream.Publish.BadName")), -1008, false),
        (.unreachable(.timedOut(peer: "live.example:1935", .connect)), -1015, false),
        (.unreachable(.tlsUnavailable(reason: "no certificates")), -1201, true),
    ]) func aRefusalIsReported(answer: ScriptedServer.Answer, code: Int, isPermanent: Bool) throws {
        try time.run {
            let server = try ScriptedServer { _ in answer }
            publisher.commands.send(.startHandshake(.ofTests))
            try publisher.start(on: server)
            try publisher.expect("failed \(code)\(isPermanent ? " for good" : "")")
        }
    }

    @Test(arguments: [ScriptedServer.Deed.close, .reset]) func aConnectionThatIsCutIsReported(
        deed: ScriptedServer.Deed
    ) throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            #expect(becomesTrue { server[1].tags.count == 2 })
            server.perform(deed, on: 1)
            try publisher.expect("failed -1013")
        }
    }

    @Test func anEndWhileItConnectsTakesNoTime() throws {
        try time.run {
            let server = try ScriptedServer { _ in .unanswered }
            try publisher.start(on: server)
            #expect(becomesTrue { server.connectionCount == 1 })
            let start = MonotonicClock.now()
            publisher.commands.send(.abort)
            try publisher.expect("closed")
            #expect(MonotonicClock.now() - start < .milliseconds(500))
        }
    }

    @Test func anAbortIsAReset() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            #expect(becomesTrue { server[1].tags.count == 2 })
            publisher.commands.send(.abort)
            try publisher.expect("closed")
            #expect(becomesTrue { server[1].isReset && server[1].isClosed })
        }
    }

    @Test func aParkedConnectionIsSilentUntilItIsAborted() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            #expect(becomesTrue { server[1].tags.count == 2 })
            publisher.commands.send(.parkUntilAbort)
            publisher.append((1..<5).map { publisher.packets.frame($0) })
            // Neither a goodbye nor the server's end has it move.
            publisher.commands.send(.close)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(300))
            #expect(server[1].tags.count == 2 && !server[1].isClosed)
            #expect(!publisher.names.contains("closed"))
            publisher.commands.send(.abort)
            try publisher.expect("closed")
            #expect(becomesTrue { server[1].isReset })
        }
    }

    @Test func itStandsStillAtAKeyframeAndGoesOnWhenAsked() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            #expect(becomesTrue { server[1].tags.count == 2 })
            publisher.commands.send(.holdAtKeyframe)
            publisher.append([1, 2, 3].map { publisher.packets.frame($0) })
            #expect(becomesTrue { server[1].tags.count == 5 })
            #expect(!publisher.names.contains("keyframeReached"))
            publisher.append([publisher.packets.frame(4, isKeyframe: true), publisher.packets.frame(5)])
            try publisher.expect("keyframeReached")
            #expect(shortForm(server[1].tags).last == "frame 3")
            publisher.commands.send(.startMedia(timeZero: publisher.packets.start, headers: []))
            #expect(becomesTrue { shortForm(server[1].tags).suffix(2) == ["key 4", "frame 5"] })
        }
    }

    @Test func theConnectionThatTakesOverStartsWithHeadersAndTheKeyframe() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            #expect(becomesTrue { server[1].tags.count == 2 })
            publisher.commands.send(.holdAtKeyframe)
            publisher.append([publisher.packets.frame(1), publisher.packets.frame(2, isKeyframe: true)])
            try publisher.expect("keyframeReached")
            let next = try ThreadUnderTest(sharing: publisher)
            try next.start(on: server)
            next.commands.send(.startHandshake(.ofTests))
            try next.expect("publishing")
            let headers = publisher.queue.sent.brought(upToDate: publisher.hub.headers)
            next.commands.send(.startMedia(timeZero: publisher.packets.start, headers: headers))
            #expect(becomesTrue { shortForm(server[2].tags) == ["header", "key 2"] })
            #expect(!server[2].metadata.isEmpty)
            #expect(shortForm(server[1].tags) == ["header", "key 0", "frame 1"])
            // The times go on: the header at that of the last frame before.
            #expect(server[2].tags.map(\.timestamp) == [20, 40])
        }
    }

    @Test func theConnectionAfterALossStartsWithHeadersAndTheNextKeyframe() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            #expect(becomesTrue { server[1].tags.count == 2 })
            server.perform(.close, on: 1)
            try publisher.expect("failed -1013")
            publisher.append([1, 2].map { publisher.packets.frame($0) })
            publisher.hub.restart(publisher.queue)
            let next = try ThreadUnderTest(sharing: publisher)
            try next.start(on: server)
            next.commands.send(.startHandshake(.ofTests))
            try next.expect("publishing")
            next.commands.send(.startMedia(timeZero: publisher.packets.start, headers: []))
            publisher.append([
                publisher.packets.frame(3), publisher.packets.frame(4, isKeyframe: true), publisher.packets.frame(5),
            ])
            #expect(becomesTrue { shortForm(server[2].tags) == ["header", "key 4", "frame 5"] })
        }
    }

    @Test func aPeerThatDoesNotAnswerIsReportedAndSoIsItsReturn() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            #expect(becomesTrue { server[1].tags.count == 2 })
            server[1].wire?.content.withLock { $0.isUnanswered = true }
            server.perform(.stopReading, on: 1)
            let start = MonotonicClock.now()
            publisher.append([publisher.packets.frame(1)])
            try publisher.expect("peerUnresponsive")
            #expect(MonotonicClock.now() - start >= TransferWatch.pause)
            server[1].wire?.content.withLock { $0.isUnanswered = false }
            server.perform(.readAgain, on: 1)
            try publisher.expect("resumed")
            #expect(becomesTrue { server[1].tags.count == 3 })
        }
    }

    /// One that is there and reads nothing answers; it is given up all the same, later.
    @Test func aPeerThatTakesNothingIsGivenUp() throws {
        try time.run {
            try publish()
            publisher.append([publisher.packets.header, publisher.packets.frame(0, isKeyframe: true)])
            #expect(becomesTrue { server[1].tags.count == 2 })
            server.perform(.stopReading, on: 1)
            let start = MonotonicClock.now()
            publisher.append([publisher.packets.frame(1)])
            try publisher.expect("peerDead -1015")
            let taken = MonotonicClock.now() - start
            #expect(taken >= TransferWatch.timeout && taken < TransferWatch.timeout + .seconds(2))
            #expect(!publisher.names.contains("peerUnresponsive"))
            publisher.append([publisher.packets.frame(2)])
            publisher.commands.send(.abort)
            try publisher.expect("closed")
            #expect(server[1].tags.count == 2)
        }
    }

    @Test func theEndIsBoundedWhenNothingIsTaken() throws {
        try time.run {
            try publish()
            server.perform(.stopReading, on: 1)
            // More than a socket holds.
            publisher.append([publisher.packets.header])
            publisher.append([publisher.packets.frame(0, isKeyframe: true, byteCount: 4_000_000)])
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(100))
            let start = MonotonicClock.now()
            publisher.commands.send(.close)
            try publisher.expect("closed")
            let taken = MonotonicClock.now() - start
            #expect(taken >= .milliseconds(600) && taken < .seconds(2))
        }
    }

    @Test func aServerAsksTheStreamToMove() throws {
        try time.run {
            try publish()
            server.perform(.reconnectRequest(tcURL: "rtmp://other.example/app"), on: 1)
            try publisher.expect("reconnectRequested other.example")
            server.perform(.reconnectRequest(tcURL: "nonsense://"), on: 1)
            try publisher.expect("reconnectRefused")
        }
    }

    @Test func aFaultThatTheServerReportsEndsTheConnection() throws {
        try time.run {
            try publish()
            server.perform(.streamError, on: 1)
            try publisher.expect("failed -1014")
        }
    }
}

/// A connection's thread, and what it reports.
private final class ThreadUnderTest {
    let packets: Packets
    let hub: PacketHub
    let queue: SinkBuffer
    let commands: Mailbox<ConnectionCommand>
    private let reports: Mailbox<ConnectionEvent>
    private(set) var names: [String] = []
    private var thread: JoinableThread?

    init() throws {
        packets = Packets(start: MonotonicClock.now())
        let media = try HubWithTarget()
        (hub, queue) = (media.hub, media.target)
        hub.mediaStarted(at: packets.start)
        commands = try Mailbox()
        reports = try Mailbox()
    }

    init(sharing other: ThreadUnderTest) throws {
        packets = other.packets
        (hub, queue) = (other.hub, other.queue)
        commands = try Mailbox()
        reports = try Mailbox()
    }

    deinit {
        commands.send(.abort)
        thread?.join()
    }

    func start(on server: ScriptedServer) throws {
        let (queue, commands, reports) = (queue, commands, reports)
        let network = server.network()
        thread = JoinableThread(
            try NamedThread("network") {
                ConnectionThread(
                    id: ConnectionID(number: 1), plan: .ofTests, network: network, queue: queue,
                    commands: commands, report: { reports.send($0) }
                ).run()
            })
    }

    func append(_ packets: [EncodedPacket]) { hub.append(packets) }

    /// Waits until it was reported.
    func expect(_ name: String) throws {
        let isReported = becomesTrue {
            names += reports.takeAll().compactMap { Self.name($0.content) }
            return names.contains(name)
        }
        try #require(isReported, "\(name) was expected, \(names) came")
    }

    private static func name(_ content: ConnectionEvent.Content) -> String? {
        switch content {
        case .connected: "connected"
        case .tlsFallback: "tlsFallback"
        case .publishing: "publishing"
        case .failed(let failure): "failed \(failure.code)\(failure.isPermanent ? " for good" : "")"
        case .peerDead(let failure): "peerDead \(failure.code)"
        case .peerUnresponsive: "peerUnresponsive"
        case .resumed: "resumed"
        case .closed: "closed"
        case .drained: "drained"
        case .keyframeReached: "keyframeReached"
        case .reconnectRequested(let url): "reconnectRequested \(url.host)"
        case .reconnectRefused: "reconnectRefused"
        }
    }
}
