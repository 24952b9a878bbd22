import ApplianceLogic
import Media
import Testing

/// A start that waits for the time of day.
@Suite("The clock")
struct ClockWaitTests {
    private let now = MediaTimestamp.zero
    private let limit = MediaTimestamp.zero + .seconds(20)

    private func ready(needsClock: Bool = true, networkIsUp: Bool = true) -> Appliance {
        var appliance = Appliance(awaitsClock: true)
        _ = appliance.networkChanged(isUp: networkIsUp, now: now)
        var configuration = Appliance.Configuration()
        configuration.needsClock = needsClock
        _ = appliance.configurationLoaded(configuration, now: now)
        return appliance
    }

    @Test func signedStreamWaitsForTheClock() {
        var appliance = ready()
        #expect(appliance.shortPressed(now: now) == [.setTimer(limit), .show(.connecting)])
        #expect(appliance.isWaitingForClock)
        #expect(appliance.clockSet(now: now + .seconds(4)) == [.startStream])
        #expect(!appliance.isWaitingForClock)
        _ = appliance.streamStateChanged(to: .connecting, now: now)
        // The timer of the wait has no effect any more.
        #expect(appliance.timerFired(now: limit) == [])
    }

    @Test func streamStartsAfterTheTimeoutWithoutATimeServer() {
        var appliance = ready()
        _ = appliance.startRequested(now: now)
        #expect(appliance.timerFired(now: now + .seconds(19)) == [])
        #expect(appliance.timerFired(now: limit) == [.startStream])
        #expect(appliance.streamStateChanged(to: .connecting, now: limit) == [])
        _ = appliance.stopRequested(now: limit)
        _ = appliance.streamStateChanged(to: .disconnected, now: limit)
        #expect(appliance.startRequested(now: limit) == [.startStream])
    }

    @Test func streamThatNeedsNoClockDoesNotWait() {
        var appliance = ready(needsClock: false)
        #expect(appliance.shortPressed(now: now) == [.startStream])
        var changed = ready()
        _ = changed.shortPressed(now: now)
        _ = changed.configurationChanged(now: now)
        #expect(changed.configurationLoaded(Appliance.Configuration(), now: now) == [.startStream, .show(.ready)])
    }

    @Test func waitStartsWhenTheNetworkIsUp() {
        var appliance = ready(networkIsUp: false)
        #expect(appliance.shortPressed(now: now) == [])
        #expect(appliance.state == .fault(.network))
        let later = now + .seconds(60)
        #expect(
            appliance.networkChanged(isUp: true, now: later) == [.setTimer(later + .seconds(20)), .show(.connecting)])
        _ = appliance.networkChanged(isUp: false, now: later + .seconds(10))
        #expect(appliance.timerFired(now: later + .seconds(20)) == [])
        #expect(appliance.isWaitingForClock)
    }

    @Test func pressDuringTheWaitCancelsTheStart() {
        var appliance = ready()
        _ = appliance.shortPressed(now: now)
        #expect(appliance.shortPressed(now: now) == [.stopStream, .show(.ready)])
        #expect(appliance.timerFired(now: limit) == [])
        #expect(appliance.clockSet(now: limit) == [])
        #expect(appliance.shortPressed(now: limit) == [.startStream])
    }

    @Test func powerOffDoesNotWaitForTheClock() {
        var appliance = ready()
        _ = appliance.shortPressed(now: now)
        #expect(appliance.powerOffRequested(.halt, now: now) == [.show(.shutdown), .setTimer(nil), .powerOff(.halt)])
        #expect(appliance.timerFired(now: limit) == [])
        #expect(appliance.clockSet(now: limit) == [])
    }
}
