import Filters
import FrameFiltering
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing
import WireSupport

@testable import Publishing
@testable import Settings

/// Live streams whose connections are signed with numbers that are kept on a card, which may not answer.
@Suite struct HangingCardTests {
    private let time = VirtualTime()
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func destination() throws -> PublishDestination {
        let pili = PiliStreamDescription(
            title: "camera", hub: "live", publishHost: try NetworkHost(parsing: "live.example"),
            security: .dynamic(key: Secret("key")))
        return PublishDestination(TargetDescription(form: .pili(pili)), stateDirectory: directory.path)
    }

    /// - Returns: of each connection so far, in their order.
    private func nonces(_ server: ScriptedServer) -> [Int] {
        (0..<server.connectionCount).compactMap { number in
            let query = server[number + 1].streamName.split(separator: "?").last ?? ""
            return query.split(separator: "&").first.flatMap { Int($0.dropFirst("nonce=".count)) }
        }
    }

    private func isLive(_ server: ScriptedServer, _ connection: Int) -> Bool { server[connection].tags.count > 40 }

    @Test func commandsAreAnsweredWhileTheCardIsWaitedFor() throws {
        try time.run {
            let (server, card) = (try ScriptedServer(), try ScriptedCard(isHanging: true))
            let stream = try StreamUnderTest(on: server, to: try destination(), card: card.calls, reconnects: .endless)
            #expect(becomesTrue { stream.recorder.states == [.connecting] })
            let start = MonotonicClock.now()
            stream.commands.send(.reportStatus(CommandID(1)))
            #expect(becomesTrue { stream.recorder.answers[CommandID(1)] != nil })
            #expect(MonotonicClock.now() - start < .seconds(1))
            // It is tried again and again, as if the server was at fault.
            let reason = "the last nonce cannot be read: the card has not answered for 10.0 seconds"
            #expect(becomesTrue { stream.recorder.texts(of: "retryAfterConnect").count { $0.contains(reason) } > 1 })
            #expect(server.connectionCount == 0)
            card.hang(false)
            #expect(becomesTrue { isLive(server, 1) })
            try stream.stop()
        }
    }

    @Test func aStreamThatWaitsForTheCardIsStoppedAtOnce() throws {
        try time.run {
            let (server, card) = (try ScriptedServer(), try ScriptedCard(isHanging: true))
            let stream = try StreamUnderTest(on: server, to: try destination(), card: card.calls)
            #expect(becomesTrue { stream.recorder.states == [.connecting] })
            let start = MonotonicClock.now()
            stream.commands.send(.stop)
            #expect(try stream.end() == nil)
            #expect(MonotonicClock.now() - start < .seconds(1))
            #expect(server.connectionCount == 0)
        }
    }

    @Test func changesOfFiltersThatWaitForTheCardAreBounded() throws {
        var changes = FilterChanges(filters: LoadedFilters())
        changes.isLoading = true
        let request = FilterChanges.Request(change: try FilterChange(parsing: "gray off"), id: nil)
        for _ in 0..<FilterChanges.mostWaiting { _ = changes.add(request) }
        let hasRoom = changes.add(request)
        let next = changes.takeNext()
        #expect(!hasRoom && next == nil && changes.waiting.count == FilterChanges.mostWaiting)
    }

    /// It may be missing for days, and each number costs a write.
    @Test func missingCameraUsesUpNoNumber() throws {
        try time.run {
            let server = try ScriptedServer()
            let destination = try destination()
            let stream = try StreamUnderTest(on: server, to: destination, video: .changed { $0.isPluggedIn = false })
            #expect(try stream.end()?.code == .cameraUnavailable)
            #expect(server.connectionCount == 0)
            #expect(try !fileNames(in: directory.path).contains { $0.hasPrefix("nonce-") })
        }
    }

    /// The card has numbers reserved that were not used.
    @Test func aConnectionThatIsLostIsMadeAgainWithoutTheCard() throws {
        try time.run {
            let (server, card) = (try ScriptedServer(), try ScriptedCard())
            let destination = try destination()
            let stream = try StreamUnderTest(on: server, to: destination, card: card.calls)
            #expect(becomesTrue { isLive(server, 1) })
            card.hang()
            for connection in 1...2 {
                server.perform(.close, on: connection)
                #expect(becomesTrue { isLive(server, connection + 1) })
            }
            card.hang(false)
            server.perform(.close, on: 3)
            #expect(becomesTrue { isLive(server, 4) })
            try stream.stop()
            let used = nonces(server)
            #expect(used.count == 4 && zip(used, used.dropFirst()).allSatisfy { $0 < $1 }, "\(used)")
        }
    }

    /// Beyond what is reserved, a number that was not saved might come twice.
    @Test func noMoreNumbersAreUsedThanTheCardHasReserved() throws {
        try time.run {
            let card = try ScriptedCard()
            let destination = try destination()
            _ = try destination.connectionURL(savedBy: card.calls, cancellation: -1)
            card.hang()
            var count = 0
            while (try? destination.connectionURL(savedBy: card.calls, cancellation: -1)) != nil { count += 1 }
            #expect(count == 60)
        }
    }
}
