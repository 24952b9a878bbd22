import Bitstream
import LinuxIO
import Media
import MediaPipeline
import MediaTestSupport
import PipelineSupport
import RTMP
import StreamLogic
import StreamQuality
import Testing
import Transport
import WireSupport

@testable import Publishing

/// A live stream on its thread, with several scripted servers.
@Suite struct LiveTargetsTests {
    private let time = VirtualTime()
    private let main = TargetID(0, name: "main")
    private let other = TargetID(1, name: "other")
    private static let refusal = ScriptedServer.Answer.accept(.refusing(connect: "NetConnection.Connect.InvalidApp"))

    /// The first one leads.
    private func stream(
        to server: ScriptedServer, _ others: [String: ScriptedServer], reconnects: ReconnectPolicy.Limit = .attempts(3)
    ) throws -> StreamUnderTest {
        try StreamUnderTest(
            on: server, to: PublishDestination(url: testURL, name: "main"), reconnects: reconnects, others: others)
    }

    private func status(of stream: StreamUnderTest, _ number: UInt64) throws -> StreamStatus {
        stream.commands.send(.reportStatus(CommandID(number)))
        try #require(becomesTrue { stream.recorder.answers[CommandID(number)] != nil })
        guard case .status(let status)? = stream.recorder.answers[CommandID(number)] else {
            throw StreamFailure(.system, "no status")
        }
        return status
    }

    @Test func everyTargetGetsTheStreamAndItsEventsSayWhich() throws {
        try time.run {
            let (server, other) = (try ScriptedServer(), try ScriptedServer())
            let stream = try stream(to: server, ["other.example": other])
            let servers = [server, other]
            #expect(becomesTrue { servers.allSatisfy { $0[1].tags.count { $0.kind == .video } > 20 } })
            for server in [server, other] {
                let video = server[1].tags.filter { $0.kind == .video }
                #expect(video.prefix(2).map { $0.body[0...1] } == [[0x17, 0], [0x17, 1]])
            }
            stream.commands.send(.apply(RequestedChanges(configuration: [.quality(.high1)])))
            #expect(becomesTrue { server[2].tags.count > 40 && other[2].tags.count > 40 }, "another profile")
            try stream.stop()
            #expect(server.connectionCount == 2 && other.connectionCount == 2)
            #expect(
                Set(stream.recorder.targets(of: "connected")) == [
                    TargetID(0, name: "main"), TargetID(1, name: "other"),
                ])
            #expect(stream.recorder.targets(of: "ended") == [TargetID(0, name: "main"), TargetID(1, name: "other")])
            #expect(stream.recorder.targets(of: "configured").allSatisfy { $0 == nil })
        }
    }

    @Test func anotherTargetLeadsWhenTheFirstIsRefused() throws {
        try time.run {
            let server = try ScriptedServer { _ in .accept(.refusing(connect: "NetConnection.Connect.InvalidApp")) }
            let other = try ScriptedServer()
            let stream = try stream(to: server, ["other.example": other])
            #expect(becomesTrue { other[1].tags.count > 40 && stream.recorder.names.contains("failed") })
            #expect(stream.recorder.targets(of: "failed") == [main])
            stream.commands.send(.reportStatus(CommandID(1)))
            #expect(becomesTrue { !stream.recorder.answers.isEmpty })
            guard case .status(let status) = stream.recorder.answers[CommandID(1)] else {
                Issue.record("\(stream.recorder.answers)")
                return
            }
            #expect(status.state == .live && status.sent.sentFrames > 10)
            #expect(stream.recorder.leaders == [self.other])
            try stream.stop()
            #expect(stream.recorder.targets(of: "ended") == [self.other])
        }
    }

    @Test func streamFailsWhenEveryTargetHas() throws {
        try time.run {
            let server = try ScriptedServer { _ in Self.refusal }
            let another = try ScriptedServer { _ in Self.refusal }
            let stream = try stream(to: server, ["other.example": another])
            // The first failure is an event, the last one the stream's end.
            let last = try stream.end()?.target
            let targets = stream.recorder.targets(of: "failed") + [last]
            #expect(targets.count == 2 && Set(targets) == [main, other])
        }
    }

    @Test func aRefusedTargetIsTriedAgainAndLeadsOnceItIsLive() throws {
        try time.run {
            let server = try ScriptedServer { $0 == 1 ? Self.refusal : .accept() }
            let other = try ScriptedServer()
            let stream = try stream(to: server, ["other.example": other])
            #expect(becomesTrue { stream.recorder.targets(of: "failed") == [main] && other[1].tags.count > 40 })
            let failed = try status(of: stream, 1).targets
            #expect(failed.map(\.name) == ["main", "other"] && failed.map(\.isLeading) == [false, true])
            guard case .failed = failed[0].state else {
                Issue.record("\(failed)")
                return
            }
            #expect(becomesTrue(within: .seconds(20)) { server.connectionCount == 2 && server[2].tags.count > 40 })
            let live = try status(of: stream, 2).targets
            #expect(live.map(\.state) == [.running(.live), .running(.live)] && live.map(\.isLeading) == [true, false])
            #expect(
                server[2].tags.filter { $0.kind == .video }.prefix(2).map { $0.body[0...1] } == [
                    [0x17, 0], [0x17, 1],
                ])
            #expect(other.connectionCount == 1, "the other one is not disturbed")
            #expect(stream.recorder.leaders == [self.other, main])
            try stream.stop()
        }
    }

    @Test func anotherTargetLeadsWhileTheFirstNeverAnswers() throws {
        try time.run {
            let server = try ScriptedServer { _ in .unreachable(.timedOut(peer: "main", .connect)) }
            let other = try ScriptedServer()
            let stream = try stream(to: server, ["other.example": other], reconnects: .endless)
            #expect(becomesTrue { other[1].tags.count > 40 })
            #expect(try status(of: stream, 1).targets.map(\.isLeading) == [false, true])
            try stream.stop()
        }
    }

    @Test func eachTargetIsSwitchedByItself() throws {
        try time.run {
            let (server, other) = (try ScriptedServer(), try ScriptedServer())
            let stream = try stream(to: server, ["other.example": other])
            #expect(becomesTrue { server[1].tags.count > 40 && other[1].tags.count > 40 })
            stream.commands.send(.switchTarget("other", isOn: false, CommandID(1)))
            #expect(becomesTrue { other[1].hasEnded })
            #expect(try status(of: stream, 2).targets.map(\.state) == [.running(.live), .off])
            stream.commands.send(.switchTarget("main", isOn: false, CommandID(3)))
            #expect(becomesTrue { stream.recorder.answers[CommandID(3)] != nil })
            #expect(stream.recorder.answers[CommandID(3)] == .refused(.target(.onlyOne("main"))))
            stream.commands.send(.switchTarget("other", isOn: true, CommandID(4)))
            #expect(becomesTrue { other.connectionCount == 2 && other[2].tags.count > 40 })
            #expect(
                other[2].tags.filter { $0.kind == .video }.prefix(2).map { $0.body[0...1] } == [[0x17, 0], [0x17, 1]])
            #expect(stream.recorder.answers[CommandID(4)]?.lines == ["other on"])
            stream.commands.send(.switchTarget("third", isOn: true, CommandID(5)))
            #expect(becomesTrue { stream.recorder.answers[CommandID(5)] != nil })
            #expect(
                stream.recorder.answers[CommandID(5)]
                    == .refused(.target(.unknown("third", available: ["main", "other"]))))
            try stream.stop()
            #expect(server.connectionCount == 1 && stream.recorder.targets(of: "failed").isEmpty)
        }
    }

    @Test func anotherTargetLeadsBeforeTheLeadingOneIsSwitchedOff() throws {
        try time.run {
            let (server, another) = (try ScriptedServer(), try ScriptedServer())
            let stream = try stream(to: server, ["other.example": another])
            #expect(becomesTrue { server[1].tags.count > 40 && another[1].tags.count > 40 })
            stream.commands.send(.switchTarget("main", isOn: false, CommandID(1)))
            #expect(becomesTrue { server[1].hasEnded })
            #expect(stream.recorder.leaders.last == other)
            let readings = try status(of: stream, 2).targets
            #expect(readings.map(\.state) == [.off, .running(.live)] && readings.map(\.isLeading) == [false, true])
            try stream.stop()
            #expect(another.connectionCount == 1)
        }
    }

    @Test func switchingAFailedTargetOffEndsItsRetries() throws {
        try time.run {
            let server = try ScriptedServer()
            let another = try ScriptedServer { _ in Self.refusal }
            let stream = try stream(to: server, ["other.example": another])
            #expect(becomesTrue { stream.recorder.targets(of: "failed") == [other] && server[1].tags.count > 40 })
            stream.commands.send(.switchTarget("other", isOn: false, CommandID(1)))
            #expect(becomesTrue { stream.recorder.answers[CommandID(1)]?.lines == ["other off"] })
            #expect(stream.recorder.states.last == .disconnected)
            let attempts = another.connectionCount
            let tags = server[1].tags.count
            #expect(becomesTrue(within: .seconds(60)) { server[1].tags.count > tags + 50 * 40 })
            #expect(another.connectionCount == attempts)
            try stream.stop()
        }
    }

    @Test func failureOfTheLastTargetEndsTheStream() throws {
        try time.run {
            let server = try ScriptedServer { _ in Self.refusal }
            let other = try ScriptedServer { $0 == 1 ? .accept() : Self.refusal }
            let stream = try stream(to: server, ["other.example": other])
            #expect(becomesTrue { other[1].tags.count > 40 && stream.recorder.names.contains("failed") })
            other.perform(.close, on: 1)
            #expect(try stream.end()?.target == self.other)
            #expect(stream.recorder.targets(of: "failed").filter { $0 == self.other }.isEmpty, "the end says it")
        }
    }
}
