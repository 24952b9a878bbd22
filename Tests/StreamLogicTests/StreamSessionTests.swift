import Media
import StreamLogic
import Testing

@Suite("Stream session")
struct StreamSessionTests {
    /// A session that has been live on connection 1 since 0 s.
    private func publishing(_ script: StreamSessionScript = StreamSessionScript()) -> StreamSessionScript {
        var script = script
        _ = script.play([.start, .connected(1), .publishing(1)])
        return script
    }

    @Test func startStreamStop() {
        var script = StreamSessionScript()
        #expect(script.session.state == .unknown)
        #expect(script.play(.start) == ["connecting", "open 1"])
        #expect(script.play(.connected(1)) == ["1001"])
        #expect(script.play(.publishing(1)) == ["keyframe", "media 1", "1002", "live", "started"])
        #expect(script.play(.stop) == ["close 1", "disconnecting"])
        #expect(script.play(.closed(1)) == ["disconnected", "stopped"])
        #expect(script.timer == nil)
        #expect(script.play(.start) == ["connecting", "open 2"])
    }

    @Test func attemptGetsItsFullTimeOnceSourcesAreOpen() throws {
        var script = StreamSessionScript()
        _ = script.play(.start)
        let allowed = try #require(script.timer) - script.now
        #expect(script.wait(.seconds(20)) == [])
        #expect(script.play(.sourcesOpened) == [])
        #expect(script.timer == script.now + allowed)
        _ = script.play([.connected(1), .publishing(1)])
        let timer = script.timer
        #expect(script.play(.sourcesOpened) == [] && script.timer == timer, "it is live already")
    }

    @Test func secondStartChangesNothing() {
        var script = StreamSessionScript()
        _ = script.play(.start)
        #expect(script.play(.start) == ["already running"])
        _ = script.play([.connected(1), .publishing(1)])
        #expect(script.play(.start) == ["already running"])
    }

    // MARK: Stop, always within its limit

    @Test func stopDuringLookupConnectAndHandshakeIsImmediate() {
        for steps: [StreamSessionScript.Step] in [[], [.connected(1)]] {
            var script = StreamSessionScript()
            _ = script.play([.start] + steps)
            #expect(script.play(.stop) == ["abort 1", "start canceled", "disconnected", "stopped"])
            #expect(script.play([.connected(1), .publishing(1), .failed(1, refused), .closed(1), .timer]) == [])
        }
    }

    @Test func stopWhileWaitingForTheNextAttemptIsImmediate() {
        var script = publishing()
        _ = script.play(.failed(1, reset))
        #expect(script.play(.stop) == ["disconnected", "stopped"])
        #expect(script.wait(.seconds(60)) == [])
    }

    @Test func unresponsiveServerIsAbandoned() {
        var script = publishing()
        _ = script.play(.stop)
        #expect(script.wait(.seconds(1)) == ["0.8 abort 1", "0.8 disconnected", "0.8 stopped"])
    }

    @Test func connectionThatFailsWhileClosingIsClosed() {
        var script = publishing()
        _ = script.play(.stop)
        #expect(script.play(.failed(1, reset)) == ["disconnected", "stopped"])
    }

    @Test func stopIsAnsweredWhenNotRunning() {
        var script = StreamSessionScript()
        #expect(script.play(.stop) == ["stopped"])
        #expect(script.session.state == .unknown)
    }

    // MARK: Reconnecting

    @Test func failsAfterThreeAttempts() {
        var script = publishing()
        #expect(script.play(.failed(1, reset)) == ["3004", "1102", "reconnecting"])
        #expect(script.wait(.milliseconds(500)) == ["0.5 open 2"])
        #expect(script.play(.failed(2, refused)) == ["3002", "1102"])
        #expect(script.wait(.seconds(1)) == ["1.5 open 3"])
        #expect(script.play(.failed(3, notFound)) == ["3001", "1102"])
        #expect(script.wait(.seconds(2)) == ["3.5 open 4"])
        #expect(script.play([.connected(4), .failed(4, badName)]) == ["1001", "-1307", "error"])
        #expect(script.wait(.seconds(60)) == [])
        #expect(script.play(.start) == ["connecting", "open 5"])
    }

    @Test func delaysDoubleUpToEightSecondsAndJitterShortensThem() {
        func delays(jitter: Double, seed: UInt64) -> [Double] {
            var script = publishing(StreamSessionScript(limit: .endless, jitter: jitter, seed: seed))
            return (1...7).map { index in
                _ = script.play(.failed(index, reset))
                let start = script.now
                if let due = script.timer { _ = script.wait(due - script.now) }
                return (script.now - start).inSeconds
            }
        }
        let exact = [0.5, 1, 2, 4, 8, 8, 8]
        #expect(delays(jitter: 0, seed: 1) == exact)
        let jittered = delays(jitter: 0.25, seed: 1)
        #expect(zip(jittered, exact).allSatisfy { $0 <= $1 && $0 >= 0.75 * $1 })
        #expect(jittered != exact)
        #expect(jittered != delays(jitter: 0.25, seed: 2))
        #expect(jittered == delays(jitter: 0.25, seed: 1))
    }

    @Test func unreachableServerIsTriedEveryHalfSecond() {
        var script = publishing(StreamSessionScript(limit: .endless))
        _ = script.play(.failed(1, reset))
        for index in 2...9 {
            #expect(script.wait(.milliseconds(500)).count == 1)
            #expect(script.play(.failed(index, refused)) == ["3002", "1102"])
        }
        // Once it answers and refuses, the delays grow.
        _ = script.wait(.milliseconds(500))
        _ = script.play([.connected(10), .failed(10, badName)])
        #expect(script.wait(.milliseconds(999)) == [])
        #expect(script.wait(.milliseconds(1)).count == 1)
    }

    @Test func delaysGrowWhileTheLinkIsDown() {
        var script = publishing(StreamSessionScript(limit: .endless))
        _ = script.play([.linkDown, .failed(1, reset)])
        _ = script.wait(.milliseconds(500))
        _ = script.play(.failed(2, refused))
        #expect(script.wait(.milliseconds(999)) == [])
        #expect(script.wait(.milliseconds(1)).count == 1)
    }

    @Test func reconnectionStartsWithHeadersAndAKeyframe() {
        var script = publishing()
        _ = script.play(.failed(1, reset))
        _ = script.wait(.milliseconds(500))
        #expect(script.play([.connected(2), .publishing(2)]) == ["1001", "keyframe", "media 2", "1002", "live"])
        #expect(script.targets == [.described, .described])
    }

    @Test func connectionThatLastedResetsTheCount() {
        var script = publishing()
        for index in 1...10 {
            _ = script.wait(.seconds(6))
            #expect(script.play(.failed(index, reset)) == ["3004", "1102", "reconnecting"])
            #expect(script.wait(.milliseconds(500)).count == 1)
            _ = script.play([.connected(index + 1), .publishing(index + 1)])
        }
    }

    @Test func serverThatDropsConnectionsAtOnceIsGivenUp() {
        var script = publishing()
        var log: [String] = []
        for index in 1...4 {
            log = script.play(.failed(index, reset))
            _ = script.wait(.seconds(8))
            if script.connections.count > index { _ = script.play([.connected(index + 1), .publishing(index + 1)]) }
        }
        #expect(log == ["-1307", "error"])
    }

    // MARK: The first connection

    @Test func firstConnectionIsRetried() {
        var script = StreamSessionScript()
        _ = script.play(.start)
        #expect(script.play(.failed(1, refused)) == ["3002", "1102"])
        #expect(script.session.state == .connecting)
        _ = script.wait(.milliseconds(500))
        #expect(script.play([.connected(2), .publishing(2)]).last == "started")
    }

    @Test func firstConnectionThatAlwaysFailsEndsWithItsOwnCode() {
        var script = StreamSessionScript()
        _ = script.play([.start, .failed(1, refused)])
        _ = script.wait(.milliseconds(500))
        _ = script.play(.failed(2, refused))
        _ = script.wait(.seconds(1))
        _ = script.play(.failed(3, refused))
        _ = script.wait(.seconds(2))
        #expect(script.play(.failed(4, refused)) == ["-1001", "error", "start failed -1001"])
    }

    @Test func firstFailureEndsTheStreamWithoutAttempts() {
        var script = StreamSessionScript(limit: .attempts(0))
        #expect(script.play([.start, .failed(1, refused)]).suffix(3) == ["-1001", "error", "start failed -1001"])
        var live = publishing(StreamSessionScript(limit: .attempts(0)))
        #expect(live.play(.failed(1, reset)) == ["-1013", "error"])
    }

    @Test func permanentFailureOfTheFirstConnectionIsNotRetried() {
        var script = StreamSessionScript(limit: .endless)
        _ = script.play([.start, .connected(1)])
        #expect(script.play(.failed(1, wrongPassword)) == ["-1005", "error", "start failed -1005"])
    }

    @Test func nameInUseIsRetriedFromTheStart() {
        var script = StreamSessionScript()
        _ = script.play([.start, .connected(1)])
        #expect(script.play(.failed(1, badName)) == ["3003", "1102"])
    }

    @Test func everythingIsRetriedOnceLive() {
        var script = publishing()
        _ = script.play(.failed(1, reset))
        _ = script.wait(.milliseconds(500))
        #expect(script.play([.connected(2), .failed(2, wrongPassword)]) == ["1001", "3003", "1102"])
    }

    @Test func permanentFailuresCanEndAReconnection() {
        var script = publishing(StreamSessionScript(permanent: .endAlways))
        _ = script.play(.failed(1, reset))
        _ = script.wait(.milliseconds(500))
        #expect(script.play(.failed(2, wrongPassword)) == ["-1400", "error"])
        var stubborn = StreamSessionScript(permanent: .retry)
        #expect(stubborn.play([.start, .failed(1, wrongPassword)]).suffix(2) == ["3002", "1102"])
    }

    @Test func attemptTimesOut() {
        var script = StreamSessionScript()
        _ = script.play([.start, .connected(1)])
        #expect(script.wait(.seconds(30)) == ["30.0 abort 1", "30.0 3003", "30.0 1102"])
    }

    // MARK: The link

    @Test func returnOfTheLinkStartsAnAttemptAtOnce() {
        var script = publishing()
        _ = script.play([.failed(1, reset)])
        _ = script.wait(.milliseconds(100))
        #expect(script.play([.linkDown, .linkUp(stalled: false)]) == ["open 2"])
        #expect(script.play(.failed(2, refused)) == ["3002", "1102"])
        // The delays start from the shortest.
        #expect(script.wait(.milliseconds(500)) == ["0.6 open 3"])
    }

    @Test func attemptWhosePacketsWereLostWithTheLinkIsRestarted() {
        var script = publishing()
        _ = script.play([.linkDown, .failed(1, reset)])
        _ = script.wait(.milliseconds(500))
        #expect(script.play(.linkUp(stalled: false)) == ["abort 2", "open 3"])
        // Changes of another link have no effect.
        #expect(script.play(.linkUp(stalled: false)) == [])
        #expect(script.play([.linkDown, .connected(3), .linkUp(stalled: false)]) == ["1001"])
    }

    @Test func stalledConnectionIsReplacedWhenTheLinkReturns() {
        var script = publishing()
        _ = script.play(.linkDown)
        #expect(script.play(.linkUp(stalled: true)) == ["park 1", "reconnecting", "1102", "open 2"])
        #expect(script.play(.connected(2)) == ["abort 1", "1001"])
        #expect(script.play(.publishing(2)).contains("live"))
    }

    @Test func runningConnectionIsLeftAlone() {
        var script = publishing()
        #expect(script.play([.linkDown, .linkUp(stalled: false), .linkUp(stalled: true)]) == [])
        #expect(script.session.state == .live)
    }

    @Test func attemptsWithoutALinkDoNotCount() {
        var script = publishing()
        _ = script.play([.linkDown, .failed(1, reset)])
        for index in 2...12 {
            _ = script.wait(.seconds(8))
            #expect(script.connections.count == index)
            #expect(script.play(.failed(index, refused)) == ["3002", "1102"])
        }
        #expect(script.play(.linkUp(stalled: false)) == ["open 13"])
    }

    @Test func streamThatWasNeverLiveDoesNotWaitForALink() {
        var script = StreamSessionScript()
        _ = script.play([.linkDown, .start, .failed(1, notFound)])
        var log: [String] = []
        for index in 2...4 {
            _ = script.wait(.seconds(2))
            log = script.play(.failed(index, notFound))
        }
        #expect(log == ["-1000", "error", "start failed -1000"])
    }

    // MARK: Status

    @Test func statusIsReportedAtItsInterval() {
        var script = publishing(StreamSessionScript(statusInterval: .seconds(3)))
        #expect(script.wait(.seconds(7)) == ["3.0 status", "6.0 status"])
        _ = script.play(.stop)
        #expect(!script.wait(.seconds(10)).contains { $0.hasSuffix("status") })
    }

    @Test func missedStatusIsNotMadeUpFor() {
        var script = publishing(StreamSessionScript(statusInterval: .seconds(3)))
        script.now = .zero + .seconds(100)
        #expect(script.play(.timer) == ["status"])
        #expect(script.wait(.seconds(3)) == ["103.0 status"])
    }

    @Test func statusIntervalIsLimitedToItsRange() {
        #expect(StreamSessionSettings(statusInterval: .zero).statusInterval == .seconds(1))
        #expect(StreamSessionSettings(statusInterval: .seconds(31)).statusInterval == .seconds(30))
        var settings = StreamSessionSettings()
        #expect(settings.statusInterval == .seconds(3))
        settings.statusInterval = .seconds(99)
        #expect(settings.statusInterval == .seconds(30))
    }

    // MARK: Restart

    @Test func restartClosesTheConnectionFirst() {
        var script = publishing()
        #expect(script.play(.restart) == ["close 1", "disconnecting"])
        #expect(script.play(.closed(1)) == ["disconnected", "connecting", "open 2"])
        #expect(script.play([.connected(2), .publishing(2)]).last == "started")
    }

    /// Another target's change of encoding is no reason to try a refusing server sooner, or more often.
    @Test func otherEncodingChangesNothingForAServerThatIsRetried() {
        let limit = ReconnectPolicy.Limit.attempts(2)
        func retried(_ isReencoded: Bool) -> [String] {
            var script = StreamSessionScript(limit: limit)
            var actions = script.play([.start, .failed(1, refused)])
            if isReencoded { actions += script.play(.reencode) }
            actions += script.wait(.seconds(2))
            actions += script.play(.failed(2, refused))
            if isReencoded { actions += script.play(.reencode) }
            actions += script.wait(.seconds(10))
            return actions + script.play(.failed(3, refused)) + script.wait(.seconds(60))
        }
        #expect(retried(true) == retried(false))
    }

    @Test func otherEncodingDuringAnAttemptStartsItAgain() {
        var script = publishing()
        _ = script.play(.failed(1, reset))
        _ = script.wait(.seconds(2))
        #expect(script.play(.reencode) == ["abort 2", "open 3"])
        #expect(script.play([.connected(3), .publishing(3)]).contains("media 3"))
    }

    @Test func restartDoesNotWaitForAnAttemptOrADelay() {
        var script = StreamSessionScript()
        _ = script.play(.start)
        #expect(script.play(.restart) == ["abort 1", "open 2"])
        _ = script.play(.failed(2, refused))
        #expect(script.play(.restart) == ["open 3"])
        #expect(StreamSessionScript().session.state == .unknown)
    }

    @Test func startAndStopWhileClosingApplyInOrder() {
        var script = publishing()
        #expect(script.play([.stop, .start]) == ["close 1", "disconnecting"])
        #expect(script.play(.closed(1)) == ["disconnected", "stopped", "connecting", "open 2"])
        var again = publishing()
        #expect(again.play([.stop, .start, .stop]) == ["close 1", "disconnecting", "start canceled"])
        #expect(again.play(.closed(1)) == ["disconnected", "stopped"])
    }

    // MARK: Moving to another server

    @Test func moveConnectsBeforeTheOldConnectionCloses() {
        var script = publishing()
        #expect(script.play(.move(1, "rtmp://other/app")) == ["open 2"])
        #expect(script.targets.last == .requested(tcURL: "rtmp://other/app"))
        #expect(script.play(.keyframe) == [])
        #expect(script.play([.connected(2), .publishing(2)]) == ["1001", "keyframe"])
        #expect(script.session.state == .live)
        #expect(script.play(.keyframe) == ["media 2", "close 1", "2003"])
        #expect(script.play(.keyframe) == [])
        #expect(script.play(.closed(1)) == [])
        #expect(script.play(.failed(2, reset)) == ["3004", "1102", "reconnecting"])
        #expect(script.wait(.milliseconds(500)) == ["0.5 open 3"])
        #expect(script.targets.last == .described)
    }

    @Test func oldConnectionThatDoesNotCloseIsCut() {
        var script = publishing()
        _ = script.play([.move(1, nil), .connected(2), .publishing(2), .keyframe])
        #expect(script.wait(.seconds(1)) == ["0.8 abort 1"])
        #expect(script.play([.failed(1, reset), .closed(1)]) == [])
    }

    @Test func failedMoveKeepsTheOldConnection() {
        var script = publishing()
        _ = script.play(.move(1, nil))
        #expect(script.play(.failed(2, refused)) == ["2004"])
        #expect(script.play(.keyframe) == [])
        #expect(script.session.state == .live)
        // The server may ask again.
        #expect(script.play(.move(1, nil)) == ["open 3"])
    }

    @Test func moveTimesOut() {
        var script = publishing(StreamSessionScript(statusInterval: .seconds(30)))
        _ = script.play(.move(1, nil))
        #expect(script.wait(.seconds(31)).filter { !$0.hasSuffix("status") } == ["30.0 abort 2", "30.0 2004"])
        _ = script.play([.move(1, nil), .connected(3), .publishing(3)])
        #expect(script.wait(.seconds(6)) == ["36.0 abort 3", "36.0 2004"])
    }

    @Test func secondMoveRequestIsIgnored() {
        var script = publishing()
        #expect(script.play([.move(1, nil), .move(1, nil)]) == ["open 2"])
    }

    @Test func oldConnectionMayFailDuringTheMove() {
        var early = publishing()
        _ = early.play(.move(1, nil))
        #expect(early.play(.failed(1, reset)) == ["3004", "1102", "reconnecting"])
        #expect(early.play([.connected(2), .publishing(2)]) == ["1001", "keyframe", "media 2", "1002", "live"])
        var late = publishing()
        _ = late.play([.move(1, nil), .connected(2), .publishing(2)])
        #expect(
            late.play(.failed(1, reset)) == [
                "3004", "1102", "reconnecting", "keyframe", "media 2", "1002", "live",
            ])
    }

    @Test func stopDuringAMoveEndsBothConnections() {
        var script = publishing()
        _ = script.play([.move(1, nil), .connected(2)])
        #expect(script.play(.stop) == ["abort 2", "close 1", "disconnecting"])
        var moved = publishing()
        _ = moved.play([.move(1, nil), .connected(2), .publishing(2), .keyframe, .stop])
        #expect(moved.play(.closed(2)) == ["abort 1", "disconnected", "stopped"])
    }
}
