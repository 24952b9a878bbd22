import Bitstream
import LinuxIO
import Media
import MediaTestSupport
import RTMP
import Testing
import Transport
import WireSupport

@testable import Receiving

/// A scripted publisher and its receiver, both on the test's thread.
private final class Pair {
    let publisher: ScriptedPublisher
    let connection: ReceivedConnection
    /// The wire to the publisher.
    let wire: ScriptedStream.Wire
    private(set) var events: [ReceivedConnection.Event] = []

    init(_ faults: ReceiverFault..., configuration: ReceiveConfiguration = .ofTests) throws {
        let (client, server) = try ScriptedStream.pair()
        wire = server.outgoing
        publisher = ScriptedPublisher(ScriptedStream(client))
        connection = ReceivedConnection(
            stream: ScriptedStream(server), configuration: configuration, faults: ConnectionFaults(faults))
    }

    /// Serves both until the condition becomes true.
    /// - Returns: whether it became true in time.
    func run(within timeout: Duration = .seconds(10), until condition: () -> Bool) -> Bool {
        let end = MonotonicClock.now() + timeout
        while !condition() {
            guard MonotonicClock.now() < end else { return false }
            publisher.serve()
            if !connection.isOver { events += connection.service() }
            MonotonicClock.sleep(until: MonotonicClock.now() + .microseconds(200))
        }
        return true
    }

    func runsQuietly(for duration: Duration, until condition: () -> Bool) -> Bool {
        !run(within: duration, until: condition)
    }

    var tags: [FLVTag] { events.compactMap { if case .media(let tag) = $0 { tag } else { nil } } }
    var hasEnded: Bool { events.contains { if case .ended = $0 { true } else { false } } }

    /// Publishes and sends the tags.
    func publish() {
        #expect(run { publisher.isPublishing })
        for tag in ReceivingTests.tags { publisher.send(tag) }
    }
}

@Suite struct ReceivedConnectionTests {
    private let time = VirtualTime()

    @Test func publishedTagsArriveUnchanged() throws {
        try time.run {
            let pair = try Pair()
            pair.publish()
            #expect(pair.run { pair.tags.count == tags.count })
            #expect(pair.tags == tags)
            guard case .publishStarted("live", "secret") = pair.events.first else {
                Issue.record("\(pair.events)")
                return
            }
            pair.publisher.stop()
            #expect(pair.run { pair.hasEnded })
            #expect(pair.connection.failure == nil && !pair.connection.isOver)
            pair.publisher.stream.close()
            #expect(pair.run { pair.connection.isOver })
        }
    }

    /// It is not read from until it has accepted its answers.
    @Test func unreadAnswersStopReadingFromThePeer() throws {
        try time.run {
            let pair = try Pair()
            #expect(pair.run { pair.publisher.isPublishing && pair.publisher.isWritten })
            let flood = [[UInt8]](repeating: createStream, count: 100_000).flatMap { $0 }
            var sent = 0
            func sendAndServe() throws {
                sent += try pair.publisher.stream.write(Array(flood[sent..<min(sent + 16_384, flood.count)]))
                _ = pair.connection.service()
            }
            for _ in 0..<2000 { try sendAndServe() }
            #expect(sent < flood.count / 2)
            #expect(!pair.connection.isOver)
            var buffer = [UInt8](repeating: 0, count: 65_536)
            for _ in 0..<2000 {
                try sendAndServe()
                _ = try pair.publisher.stream.read(into: &buffer)
            }
            #expect(sent == flood.count)
        }
    }

    /// A complete message: the command createStream with transaction 4, in one chunk.
    private var createStream: [UInt8] {
        let name = Array("createStream".utf8)
        let body = [2, 0, UInt8(name.count)] + name + [0, 0x40, 0x10, 0, 0, 0, 0, 0, 0, 5]
        return [3, 0, 0, 0, 0, 0, UInt8(body.count), 20, 0, 0, 0, 0] + body
    }

    @Test func lostPublisherCountsAsEnded() throws {
        try time.run {
            let pair = try Pair()
            pair.publish()
            #expect(pair.run { pair.tags.count == tags.count })
            pair.publisher.stream.abort()
            #expect(pair.run { pair.connection.isOver })
            #expect(pair.hasEnded && pair.connection.failure != nil)
        }
    }

    @Test func dataThatIsNotRTMPEndsTheConnection() throws {
        try time.run {
            let (client, server) = try ScriptedStream.pair()
            let stream = ScriptedStream(client)
            let connection = ReceivedConnection(
                stream: ScriptedStream(server), configuration: .ofTests, faults: ConnectionFaults())
            _ = try stream.write([UInt8]("GET / HTTP/1.1\r\n\r\n".utf8))
            #expect(connection.service().isEmpty && connection.isOver && connection.failure != nil)
        }
    }

    @Test func closingTheReceiverEndsTheStream() throws {
        try time.run {
            let pair = try Pair()
            pair.publish()
            let events = pair.connection.close()
            #expect(events.contains { if case .ended = $0 { true } else { false } } && pair.connection.isOver)
            #expect(pair.connection.close().isEmpty)
        }
    }

    // MARK: Peers that publish nothing

    @Test func silentPeerIsDisconnectedAfter10Seconds() throws {
        try time.run {
            let pair = try Pair()
            let end = try #require(pair.connection.nextTime)
            #expect(end == MonotonicClock.now() + .seconds(10))
            MonotonicClock.sleep(until: end - .milliseconds(1))
            #expect(pair.connection.service().isEmpty && !pair.connection.isOver)
            MonotonicClock.sleep(until: end)
            #expect(pair.connection.service().isEmpty && pair.connection.isOver)
            #expect(pair.connection.failure?.contains("published nothing") == true)
        }
    }

    @Test func peerThatSendsOneByteASecondIsDisconnectedToo() throws {
        try time.run {
            let (client, server) = try ScriptedStream.pair()
            let stream = ScriptedStream(client)
            let connection = ReceivedConnection(
                stream: ScriptedStream(server), configuration: .ofTests, faults: ConnectionFaults())
            for _ in 0..<10 {
                #expect(!connection.isOver)
                _ = try stream.write([3])
                MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
                _ = connection.service()
            }
            #expect(connection.isOver)
        }
    }

    @Test func publisherMayBeSilentButNotAfterItsStream() throws {
        try time.run {
            let pair = try Pair()
            pair.publish()
            #expect(pair.runsQuietly(for: .seconds(11)) { pair.connection.isOver })
            #expect(pair.connection.nextTime == nil)
            pair.publisher.stop()
            #expect(pair.run { pair.hasEnded })
            #expect(pair.run(within: .seconds(11)) { pair.connection.isOver })
            #expect(pair.events.count { if case .ended = $0 { true } else { false } } == 1)
        }
    }

    @Test func connectionWithFaultsIsNotDisconnected() throws {
        try time.run {
            let pair = try Pair(.handshake(.missing))
            #expect(pair.runsQuietly(for: .seconds(11)) { pair.connection.isOver })
        }
    }

    // MARK: Faults of the handshake and of answers

    @Test func missingHandshakeFails() throws {
        try time.run {
            let pair = try Pair(.handshake(.missing))
            #expect(pair.runsQuietly(for: .milliseconds(300)) { pair.publisher.receivedByteCount > 0 })
        }
    }

    @Test func garbledHandshakeFails() throws {
        try time.run {
            let pair = try Pair(.handshake(.garbage))
            #expect(pair.run { pair.publisher.failure != nil })
            #expect(pair.publisher.failure == -1004)
        }
    }

    @Test func dribbledHandshakeTakesASecondAndSucceeds() throws {
        try time.run {
            let pair = try Pair(.handshake(.dribbled))
            let start = MonotonicClock.now()
            #expect(pair.run { pair.publisher.receivedByteCount > 0 })
            #expect(pair.publisher.receivedByteCount < 200)
            #expect(pair.run { pair.publisher.isPublishing })
            #expect(MonotonicClock.now() - start >= .milliseconds(900))
        }
    }

    @Test(arguments: [("connect-rejected", -1005), ("unknown-application", -1011), ("bad-name", -1008)])
    func refusalArrivesBeforeTheConnectionEnds(name: String, code: Int) throws {
        try time.run {
            let pair = try Pair(ReceiverFault(parsing: name))
            #expect(pair.run { pair.publisher.failure != nil && pair.connection.isOver })
            #expect(pair.publisher.failure == code && !pair.publisher.isPublishing)
        }
    }

    @Test(arguments: ["connect-unanswered", "publish-unanswered"]) func answerIsMissing(name: String) throws {
        try time.run {
            let pair = try Pair(ReceiverFault(parsing: name))
            #expect(pair.runsQuietly(for: .milliseconds(300)) { pair.publisher.isPublishing })
            #expect(pair.publisher.failure == nil && !pair.connection.isOver)
        }
    }

    @Test func smallChunksTakeMoreBytes() throws {
        try time.run {
            let (small, usual) = (try Pair(.chunkSize(1)), try Pair())
            for pair in [small, usual] { #expect(pair.run { pair.publisher.isPublishing }) }
            #expect(small.publisher.receivedByteCount > usual.publisher.receivedByteCount + 300)
        }
    }

    @Test func tinyWindowIsAnnounced() throws {
        try time.run {
            var configuration = ReceiveConfiguration.ofTests
            ConnectionFaults([.tinyWindow]).apply(to: &configuration)
            #expect(configuration.announcedWindow == 1)
            let pair = try Pair(.tinyWindow)
            pair.publish()
            #expect(pair.run { pair.tags == tags })
        }
    }

    @Test func acknowledgementsAreMissing() throws {
        try time.run {
            for isFaulty in [true, false] {
                let pair = try isFaulty ? Pair(.noAcknowledgements) : Pair()
                pair.publish()
                let large = FLVTag(
                    kind: .video, timestamp: 500, body: [0x27, 1] + [UInt8](repeating: 1, count: 500_000))
                pair.publisher.send(large)
                #expect(pair.run { pair.tags.last == large })
                _ = pair.runsQuietly(for: .milliseconds(100)) { false }
                let isAcknowledged = pair.publisher.actions.contains {
                    if case .acknowledged = $0 { true } else { false }
                }
                #expect(isAcknowledged != isFaulty)
            }
        }
    }

    // MARK: Faults of a running stream

    @Test func streamIsClosed() throws {
        try time.run {
            let pair = try Pair(.midStream(.close, after: .milliseconds(200)))
            pair.publish()
            let start = MonotonicClock.now()
            #expect(pair.run { pair.publisher.hasLostConnection })
            #expect(MonotonicClock.now() - start >= .milliseconds(150))
            #expect(pair.connection.isOver && pair.hasEnded && pair.publisher.failure == -1013)
            #expect(!pair.wire.content.withLock { $0.isAborted })
        }
    }

    @Test func streamIsReset() throws {
        try time.run {
            let pair = try Pair(.midStream(.reset, after: .milliseconds(200)))
            pair.publish()
            #expect(pair.run { pair.publisher.hasLostConnection })
            #expect(pair.wire.content.withLock { $0.isAborted } && pair.hasEnded)
        }
    }

    @Test(arguments: [("garbage-after=0.2", -1012), ("error-after=0.2", -1014)])
    func publisherLearnsTheReason(name: String, code: Int) throws {
        try time.run {
            let pair = try Pair(ReceiverFault(parsing: name))
            pair.publish()
            #expect(pair.run { pair.publisher.failure != nil })
            #expect(pair.publisher.failure == code)
        }
    }

    @Test func publisherIsAskedToReconnect() throws {
        try time.run {
            let pair = try Pair(.midStream(.reconnectRequest(tcURL: "rtmp://other.example/app"), after: .zero))
            pair.publish()
            func target() -> RTMPURL? {
                for case .reconnectRequested(let url) in pair.publisher.actions { return url }
                return nil
            }
            #expect(pair.run { target() != nil })
            #expect(target()?.host == "other.example" && target()?.application == "app")
            #expect(pair.run { pair.tags == tags }, "the stream goes on")
        }
    }

    @Test func pingsFloodThePublisher() throws {
        try time.run {
            let pair = try Pair(.midStream(.pingFlood, after: .zero))
            pair.publish()
            let before = pair.publisher.receivedByteCount
            // 200 of 18 bytes each within 10 ms.
            #expect(pair.run { pair.publisher.receivedByteCount > before + 20_000 })
            #expect(pair.run { pair.tags == tags })
            let sent = pair.publisher.sentByteCount
            #expect(pair.run { pair.publisher.sentByteCount > sent + 5000 }, "they are answered")
        }
    }

    @Test func readingPausesForAWhile() throws {
        try time.run {
            let pair = try Pair(.midStream(.zeroWindow(.milliseconds(400)), after: .zero))
            #expect(pair.run { pair.publisher.isPublishing })
            _ = pair.runsQuietly(for: .milliseconds(50)) { false }
            let start = MonotonicClock.now()
            for tag in tags { pair.publisher.send(tag) }
            #expect(pair.runsQuietly(for: .milliseconds(250)) { !pair.tags.isEmpty })
            #expect(pair.connection.nextTime != nil)
            #expect(pair.run { pair.tags == tags })
            #expect(MonotonicClock.now() - start >= .milliseconds(300))
        }
    }

    @Test func onlyTheFirstConnectionIsHitUnlessAllAreRequested() throws {
        try time.run {
            let faults = ReceiverFaults([.tinyWindow])
            #expect(!faults.hitting(connection: 1).isEmpty && faults.hitting(connection: 2).isEmpty)
            #expect(!ReceiverFaults([.tinyWindow, .everyConnection]).hitting(connection: 7).isEmpty)
        }
    }

    @Test(arguments: [
        "", "nonsense", "no-accept", "no-accept=soon", "chunk-size=0", "close-after=-1", "reconnect-to=x",
    ])
    func invalidFaultsAreRefused(text: String) throws {
        try time.run {
            #expect(throws: (any Error).self) { try ReceiverFault(parsing: text) }
        }
    }
}
