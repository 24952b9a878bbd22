import Media
import StreamLogic
import Testing

/// A connection that has stalled, and a second one that competes with it.
@Suite("Stream session, racing a silent connection")
struct StreamSessionRaceTests {
    /// Live on connection 1, which has been silent since 1 s; connection 2 is being tried.
    private func racing(
        limit: ReconnectPolicy.Limit = .endless, statusInterval: Duration = .seconds(30)
    ) -> StreamSessionScript {
        var script = StreamSessionScript(limit: limit, statusInterval: statusInterval)
        _ = script.play([.start, .connected(1), .publishing(1)])
        _ = script.wait(.seconds(1))
        #expect(script.play(.silent(1)) == ["open 2"])
        #expect(script.session.state == .live)
        return script
    }

    @Test func newConnectionReplacesTheSilentOne() {
        var script = racing()
        // The old connection is aborted before the new one publishes: the server accepts the stream's name only once.
        #expect(script.play(.connected(2)) == ["abort 1", "3004", "1102", "reconnecting", "1001"])
        #expect(script.play(.publishing(2)) == ["keyframe", "media 2", "1002", "live"])
        #expect(script.play([.failed(1, reset), .resumed(1), .silent(1), .closed(1)]) == [])
        #expect(script.session.state == .live)
    }

    @Test func oldConnectionStaysIfItRecoversFirst() {
        var script = racing()
        #expect(script.play(.resumed(1)) == ["abort 2"])
        #expect(script.play([.connected(2), .publishing(2), .failed(2, refused)]) == [])
        #expect(script.wait(.seconds(20)) == [])
        #expect(script.session.state == .live)
        #expect(script.play(.silent(1)) == ["open 3"])
    }

    @Test func newConnectionProvesThatTheLinkIsUp() {
        var script = racing()
        _ = script.play([.linkDown, .connected(2), .publishing(2), .failed(2, reset)])
        for index in 3...6 {
            #expect(script.wait(.milliseconds(500)).count == 1)
            _ = script.play(.failed(index, refused))
        }
    }

    @Test func attemptsFollowEachOther() {
        var script = racing()
        #expect(script.play(.failed(2, refused)) == [])
        #expect(script.wait(.milliseconds(499)) == [])
        #expect(script.wait(.milliseconds(1)) == ["1.5 open 3"])
        #expect(script.play(.failed(3, refused)) == [])
        #expect(script.play(.resumed(1)) == [])
        #expect(script.wait(.seconds(5)) == [])
    }

    @Test func attemptTimesOut() {
        var script = racing()
        let log = script.wait(.seconds(31)).filter { !$0.hasSuffix("status") }
        #expect(log == ["31.0 abort 2", "31.5 open 3"])
    }

    @Test func statusContinuesDuringTheRace() {
        var script = racing(statusInterval: .seconds(3))
        #expect(script.wait(.seconds(6)) == ["3.0 status", "6.0 status"])
    }

    @Test func attemptContinuesWhenTheOldConnectionIsGivenUp() {
        var script = racing()
        _ = script.wait(.seconds(5))
        #expect(script.play(.failed(1, reset)) == ["3004", "1102", "reconnecting"])
        #expect(script.play([.connected(2), .publishing(2)]).suffix(2) == ["1002", "live"])
        var between = racing()
        _ = between.play(.failed(2, refused))
        #expect(between.play(.failed(1, reset)) == ["3004", "1102", "reconnecting"])
        #expect(between.wait(.milliseconds(500)) == ["1.5 open 3"])
    }

    @Test func challengerCountsAsAnAttempt() {
        var script = racing(limit: .attempts(2))
        _ = script.play([.connected(2), .failed(2, badName)])
        #expect(script.wait(.milliseconds(500)) == ["1.5 open 3"])
        #expect(script.play([.connected(3), .failed(3, badName)]) == ["1001", "-1307", "error"])
    }

    @Test func noRaceWithoutReconnecting() {
        var script = StreamSessionScript(limit: .attempts(0))
        _ = script.play([.start, .connected(1), .publishing(1)])
        #expect(script.play(.silent(1)) == [])
    }

    @Test func nameInUseIsRetried() {
        var script = racing()
        _ = script.play(.connected(2))
        #expect(script.play(.failed(2, badName)) == ["3003", "1102"])
        #expect(script.wait(.milliseconds(500)) == ["1.5 open 3"])
        #expect(script.play([.connected(3), .publishing(3)]).last == "live")
    }

    @Test func returnOfTheLinkStartsANewAttempt() {
        var script = racing()
        _ = script.play(.linkDown)
        #expect(script.play(.linkUp(stalled: true)) == ["park 1", "abort 2", "reconnecting", "1102", "open 3"])
        var between = racing()
        _ = between.play([.failed(2, refused), .linkDown])
        #expect(between.play(.linkUp(stalled: true)) == ["park 1", "reconnecting", "1102", "open 3"])
    }

    @Test func moveRequestEndsTheRace() {
        var script = racing()
        #expect(script.play(.move(1, "rtmp://other/app")) == ["abort 2", "open 3"])
        #expect(script.targets.last == .requested(tcURL: "rtmp://other/app"))
        // There already is a second connection.
        #expect(script.play(.silent(1)) == [])
        #expect(script.play([.connected(3), .publishing(3), .keyframe]).suffix(3) == ["media 3", "close 1", "2003"])
    }

    @Test func challengerUsesTheSameTarget() {
        var script = StreamSessionScript(limit: .endless)
        _ = script.play([.start, .publishing(1), .move(1, "rtmp://other/app"), .publishing(2), .keyframe])
        #expect(script.play(.silent(2)) == ["open 3"])
        #expect(script.targets.last == .requested(tcURL: "rtmp://other/app"))
    }

    @Test func stopAndRestartEndBothConnections() {
        var script = racing()
        #expect(script.play(.stop) == ["abort 2", "close 1", "disconnecting"])
        #expect(script.wait(.seconds(1)) == ["1.8 abort 1", "1.8 disconnected", "1.8 stopped"])
        var again = racing()
        #expect(again.play(.restart) == ["abort 2", "close 1", "disconnecting"])
        #expect(again.play(.closed(1)) == ["disconnected", "connecting", "open 3"])
    }

    // MARK: Changing routes

    @Test func lostAddressEndsTheConnectionAtOnce() {
        var script = StreamSessionScript(limit: .endless)
        _ = script.play([.start, .connected(1), .publishing(1)])
        #expect(script.play(.addressGone) == ["3004", "park 1", "reconnecting", "1102", "open 2"])
        #expect(script.play([.connected(2), .publishing(2)]).suffix(2) == ["1002", "live"])
        var racing = racing()
        #expect(racing.play(.addressGone) == ["3004", "park 1", "abort 2", "reconnecting", "1102", "open 3"])
        var single = StreamSessionScript(limit: .attempts(0))
        _ = single.play([.start, .connected(1), .publishing(1)])
        #expect(single.play(.addressGone) == ["abort 1", "-1013", "error"])
        #expect(single.play(.addressGone) == [])
    }

    /// A reset sent while nothing gets through is lost, and the server would then refuse the stream's name.
    @Test func stalledConnectionIsAbortedWhenTheServerIsReachable() {
        var script = StreamSessionScript(limit: .endless)
        _ = script.play([.start, .connected(1), .publishing(1)])
        #expect(script.play(.addressGone).contains("park 1"))
        #expect(script.play(.failed(2, refused)) == ["3002", "1102"])
        #expect(script.wait(.milliseconds(600)) == ["0.5 open 3"])
        #expect(script.play(.connected(3)) == ["abort 1", "1001"])
        _ = script.play([.publishing(3), .stalled(3, reset)])
        #expect(script.session.state == .reconnecting)
        _ = script.wait(.seconds(1))
        #expect(script.play(.connected(4)) == ["abort 3", "1001"])
        #expect(script.play([.closed(1), .closed(3)]) == [])
    }

    @Test func stalledConnectionEndsWithTheStream() {
        var stopped = StreamSessionScript(limit: .endless)
        _ = stopped.play([.start, .connected(1), .publishing(1), .stalled(1, reset)])
        #expect(stopped.play(.stop) == ["abort 1", "disconnected", "stopped"])
        var given = StreamSessionScript(limit: .attempts(1))
        _ = given.play([.start, .connected(1), .publishing(1), .stalled(1, reset)])
        _ = given.wait(.seconds(1))
        #expect(given.play(.failed(2, refused)) == ["abort 1", "-1307", "error"])
        var gone = StreamSessionScript(limit: .endless)
        _ = gone.play([.start, .connected(1), .publishing(1), .stalled(1, reset)])
        // It has already ended.
        _ = gone.play(.closed(1))
        #expect(gone.play(.stop) == ["disconnected", "stopped"])
    }

    /// Without attempts the stream ends, unless it waits for its link.
    @Test func lostAddressEndsAStreamWithoutAttemptsUnlessItsLinkIsDown() {
        var script = StreamSessionScript(limit: .attempts(0))
        _ = script.play([.start, .connected(1), .publishing(1), .linkDown])
        #expect(script.play(.addressGone) == ["park 1", "3004", "1102", "reconnecting"])
        #expect(script.play(.linkUp(stalled: true)) == ["open 2"])
        #expect(script.play([.connected(2), .publishing(2)]).prefix(2) == ["abort 1", "1001"])
    }

    @Test func newRouteIsTriedAtOnce() {
        var script = StreamSessionScript(limit: .endless)
        _ = script.play([.start, .connected(1), .publishing(1)])
        #expect(script.play(.way) == [])
        _ = script.play([.linkDown, .failed(1, reset)])
        #expect(script.play(.way) == ["open 2"])
        // The attempt may be waiting for a name server that could not be reached.
        #expect(script.play(.way) == ["abort 2", "open 3"])
        #expect(script.play([.connected(3), .way]) == ["1001"])
    }

    @Test func attemptsCountAgainOnceConnected() {
        var script = StreamSessionScript(limit: .attempts(1))
        _ = script.play([.start, .connected(1), .publishing(1), .linkDown, .failed(1, reset)])
        for index in 2...5 {
            _ = script.wait(.seconds(8))
            _ = script.play(.failed(index, refused))
        }
        _ = script.wait(.seconds(8))
        // Connected through another link; the first one is still down.
        _ = script.play([.connected(6), .failed(6, badName)])
        _ = script.wait(.seconds(8))
        #expect(script.play([.connected(7), .failed(7, badName)]).last == "error")
    }

    @Test func reconnectDelaysDiffer() {
        func delays(seed: UInt64) -> [Double] {
            var script = StreamSessionScript(limit: .endless, jitter: 0.25, seed: seed)
            _ = script.play([.start, .connected(1), .publishing(1), .failed(1, reset)])
            return (2...6).map { index in
                let start = script.now
                if let due = script.timer { _ = script.wait(due - script.now) }
                _ = script.play(.failed(index, refused))
                return (script.now - start).inSeconds
            }
        }
        #expect(delays(seed: 1).allSatisfy { (0.375...0.5).contains($0) })
        #expect(Set(delays(seed: 1)).count == 5)
        #expect(delays(seed: 1) != delays(seed: 2))
    }
}
