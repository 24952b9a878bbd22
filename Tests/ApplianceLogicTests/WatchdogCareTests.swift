import ApplianceLogic
import Media
import Testing

@Suite struct WatchdogCareTests {
    private var care = WatchdogCare()

    private static func at(_ seconds: Int64) -> MediaTimestamp { .zero + .seconds(seconds) }

    private mutating func look(
        _ working: [(name: String, since: MediaTimestamp)] = [], isWanted: Bool = true, at seconds: Int64
    ) -> [WatchdogCare.Action] {
        care.threadsChecked(working: working, isWanted: isWanted, now: Self.at(seconds))
    }

    @Test mutating func isFedWhileThreadsWaitOrWorkBriefly() {
        #expect(look(at: 0) == [.arm, .feed])
        #expect(look([("video", Self.at(1))], at: 2) == [.feed])
        #expect(look([("video", Self.at(1))], at: 9) == [.feed])
        #expect(look([("video", Self.at(8))], at: 11) == [.feed])
    }

    @Test mutating func hangingThreadStopsFeedingAndIsReportedOnce() {
        _ = look(at: 0)
        let working = [(name: "network", since: Self.at(1)), (name: "video", since: Self.at(9))]
        #expect(
            look(working, at: 10) == [.tell("the thread \"network\" hangs: the watchdog will restart the machine")])
        #expect(look(working, at: 12) == [])
        // It was only slow: all is well again, and another hang is reported.
        #expect(look(at: 13) == [.feed])
        #expect(look([("audio", Self.at(14))], at: 23).count == 1)
    }

    @Test mutating func isDisarmedOnceWhenNoLongerWanted() {
        #expect(look(isWanted: false, at: 0) == [])
        #expect(look(at: 2) == [.arm, .feed])
        #expect(look(isWanted: false, at: 4) == [.disarm])
        #expect(look(isWanted: false, at: 6) == [])
    }

    /// Time without a watchdog does not count as hanging.
    @Test mutating func startsFreshAfterDisarming() {
        _ = look(at: 0)
        #expect(look([("video", Self.at(1))], at: 10).count == 1)
        #expect(care.disarmed() == [.disarm])
        #expect(look(isWanted: false, at: 11) == [])
        #expect(look(at: 60) == [.arm, .feed])
        // A thread that hangs then must be reported again.
        #expect(look([("video", Self.at(61))], at: 70).count == 1)
    }

    @Test mutating func armsForAThreadThatAlreadyHangs() {
        #expect(look([("video", Self.at(0))], at: 20).first == .arm)
        #expect(look([("video", Self.at(0))], at: 22) == [])
    }

    @Test mutating func retriesAFailedDevice() {
        #expect(look(at: 0) == [.arm, .feed])
        care.deviceFailed()
        #expect(look(at: 2) == [.arm, .feed])
        #expect(look(at: 4) == [.feed])
        care.deviceFailed()
        #expect(care.disarmed() == [])
    }
}
