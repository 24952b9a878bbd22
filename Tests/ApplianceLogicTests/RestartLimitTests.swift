import Media
import Testing

@testable import ApplianceLogic

@Suite struct RestartLimitTests {
    @Test func limitIsDescribedCorrectly() {
        #expect(RestartLimit.Reason.everyEncoder.frequency == "3 times within an hour")
        #expect(RestartLimit.Reason.hardwareEncoder.frequency == "once within an hour")
        let spans: [Duration] = [.seconds(60), .seconds(300), .seconds(3600), .seconds(5400), .seconds(7200)]
        #expect(spans.map(\.inWords) == ["a minute", "5 minutes", "an hour", "90 minutes", "2 hours"])
    }

    private func time(_ seconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: seconds * 1000) }

    /// The encoder fails this many seconds after each start.
    private func restarts(everyTime seconds: Int64, count: Int) -> Int {
        var saved: String?
        for number in 0..<count {
            var limit = RestartLimit(savedText: saved, now: time(5))
            guard limit.restartWanted(for: .everyEncoder, resumesStream: true, now: time(seconds)) else {
                return number
            }
            saved = limit.savedText(now: time(seconds))
        }
        return count
    }

    @Test func machineStaysOnAfterThreeRestarts() {
        #expect(restarts(everyTime: 30, count: 100) == 3)
        // The fourth restart is allowed an hour after the first one, so three per hour can continue forever.
        #expect(restarts(everyTime: 1000, count: 100) == 3)
        #expect(restarts(everyTime: 1300, count: 100) == 100)
    }

    @Test func restartsAreForgottenAfterAnHourOfRunning() {
        var limit = RestartLimit(savedText: nil, now: time(0))
        for second in Int64(0)..<3 {
            let isAllowed = limit.restartWanted(for: .everyEncoder, resumesStream: false, now: time(second))
            #expect(isAllowed)
        }
        let isTooEarly = limit.restartWanted(for: .everyEncoder, resumesStream: false, now: time(3599))
        #expect(!isTooEarly)
        #expect(limit.count(now: time(3599)) == 3 && limit.count(now: time(3601)) == 1)
        let isAllowed = limit.restartWanted(for: .everyEncoder, resumesStream: false, now: time(3600))
        #expect(isAllowed)
    }

    @Test func savedStateIsKnownAfterTheStart() {
        var limit = RestartLimit(savedText: nil, now: time(0))
        _ = limit.restartWanted(for: .everyEncoder, resumesStream: true, now: time(100))
        #expect(limit.savedText(now: time(160)) == "resume 60\n")
        var next = RestartLimit(savedText: limit.savedText(now: time(160)), now: time(10))
        #expect(next.streamAfterwards == .resumes && next.count(now: time(10)) == 1)
        next.startTaken()
        #expect(next.savedText(now: time(40)) == "none 90\n")
        #expect(RestartLimit(savedText: next.savedText(now: time(40)), now: time(10)).streamAfterwards == .asEver)
    }

    @Test func deadEncoderRestartsTheMachineOnceAnHour() {
        var limit = RestartLimit(savedText: nil, now: time(0))
        #expect(limit.earliest(for: .hardwareEncoder, now: time(0)) == time(0))
        let isFirstAllowed = limit.restartWanted(for: .hardwareEncoder, resumesStream: false, now: time(0))
        #expect(isFirstAllowed)
        var next = RestartLimit(savedText: limit.savedText(now: time(20)), now: time(10))
        let isTooEarly = next.restartWanted(for: .hardwareEncoder, resumesStream: false, now: time(3000))
        #expect(!isTooEarly)
        #expect(next.earliest(for: .hardwareEncoder, now: time(3000)) == time(3590))
        let isAllowed = next.restartWanted(for: .hardwareEncoder, resumesStream: false, now: time(3590))
        #expect(isAllowed)
    }

    /// At most three restarts per hour, whatever the reason.
    @Test func restartsForOneReasonCountForTheOther() {
        var limit = RestartLimit(savedText: nil, now: time(0))
        _ = limit.restartWanted(for: .everyEncoder, resumesStream: true, now: time(0))
        let isAllowed = limit.restartWanted(for: .hardwareEncoder, resumesStream: false, now: time(100))
        #expect(!isAllowed)
        #expect(limit.streamAfterwards == .resumes, "what was refused changes nothing")
        var other = RestartLimit(savedText: nil, now: time(0))
        _ = other.restartWanted(for: .hardwareEncoder, resumesStream: false, now: time(0))
        var allowed = 0
        for second in Int64(1)...5
        where other.restartWanted(for: .everyEncoder, resumesStream: true, now: time(second)) {
            allowed += 1
        }
        #expect(allowed == 2)
    }

    @Test func nothingStartsAfterAnIdleRestart() {
        var limit = RestartLimit(savedText: nil, now: time(0))
        _ = limit.restartWanted(for: .hardwareEncoder, resumesStream: false, now: time(100))
        #expect(limit.savedText(now: time(101)) == "off 1\n")
        var next = RestartLimit(savedText: limit.savedText(now: time(101)), now: time(10))
        #expect(next.streamAfterwards == .staysOff)
        next.startTaken()
        #expect(next.savedText(now: time(11)) == "none 2\n")
    }

    @Test(arguments: [
        "", "resume", "none x -5 99999999999999999999", "\u{0}\u{1}", "3 2 1 0 0 0 0 0 0", "off off 1 9 2",
    ])
    func garbageNeverAllowsMoreThanTheLimit(text: String) {
        var limit = RestartLimit(savedText: text, now: time(1))
        var count = 0
        while limit.restartWanted(for: .everyEncoder, resumesStream: false, now: time(2)), count < 10 { count += 1 }
        #expect(count <= 3)
    }
}
