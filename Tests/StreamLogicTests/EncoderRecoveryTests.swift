import Media
import StreamLogic
import Testing

@Suite struct EncoderLadderTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    /// Frames go in at 10 fps and nothing comes out.
    private func silence(_ ladder: inout EncoderLadder, from begin: Int64, to end: Int64) -> [EncoderLadder.Action] {
        stride(from: begin, to: end, by: 100).flatMap { ladder.frameSubmitted(now: time($0)) }
    }

    /// Every frame is answered by the hardware.
    private func health(_ ladder: inout EncoderLadder, from begin: Int64, to end: Int64) -> [EncoderLadder.Action] {
        stride(from: begin, to: end, by: 100).flatMap {
            ladder.frameSubmitted(now: time($0)) + ladder.hardwareEncoded(now: time($0 + 20))
        }
    }

    /// The hardware is closed and opened again without delay.
    private func reopen(_ ladder: inout EncoderLadder, at now: Int64) -> [EncoderLadder.Action] {
        ladder.hardwareClosed(now: time(now)) + ladder.hardwareOpened(now: time(now + 50))
    }

    /// The hardware does not open, twice.
    private func failTrial(_ ladder: inout EncoderLadder, at now: Int64, isDead: Bool = false) -> [EncoderLadder.Action]
    {
        ladder.openingFailed(reason: "gone", isDead: isDead, now: time(now)) + ladder.hardwareClosed(now: time(now))
            + ladder.openingFailed(reason: "gone", isDead: isDead, now: time(now))
    }

    private func restarted(_ reason: String) -> EncoderLadder.Action { .emit(.encoderRestarted(reason: reason)) }
    private func software(_ reason: String) -> EncoderLadder.Action { .emit(.softwareEncoderInUse(reason: reason)) }

    @Test func nothingIsDoneWhileEveryFrameIsAnswered() {
        var ladder = EncoderLadder()
        #expect(health(&ladder, from: 0, to: 100_000) == [])
        #expect(ladder.feedsHardware && !ladder.usesSoftware)
    }

    @Test func skipsShorterThanASecondAreNoStall() {
        var ladder = EncoderLadder()
        for begin in stride(from: Int64(0), to: 60_000, by: 1000) {
            #expect(silence(&ladder, from: begin, to: begin + 900) == [])
            #expect(ladder.hardwareEncoded(now: time(begin + 950)) == [])
        }
    }

    @Test func climbsFromAKeyframeOverReopeningToSoftware() {
        var ladder = EncoderLadder()
        #expect(silence(&ladder, from: 0, to: 1000) == [])
        #expect(ladder.frameSubmitted(now: time(1000)) == [.forceKeyFrame])
        #expect(silence(&ladder, from: 1100, to: 2100) == [])
        #expect(ladder.frameSubmitted(now: time(2100)) == [.closeHardware])
        #expect(!ladder.feedsHardware && !ladder.usesSoftware)
        #expect(reopen(&ladder, at: 2150) == [.openHardware, restarted("no frame for 1.0 s")])
        #expect(ladder.feedsHardware)
        #expect(silence(&ladder, from: 2200, to: 3300) == [.closeHardware])
        #expect(reopen(&ladder, at: 3300) == [.openHardware, restarted("no frame for 1.0 s")])
        #expect(
            silence(&ladder, from: 3400, to: 4500)
                == [.closeHardware, .openSoftware, software("no frame for 1.0 s")])
        #expect(ladder.usesSoftware && !ladder.feedsHardware)
        #expect(ladder.hardwareClosed(now: time(4500)) == [])
        #expect(silence(&ladder, from: 4500, to: 60_000) == [])
    }

    @Test func aKeyframeThatHelpsIsTheOnlyStep() {
        var ladder = EncoderLadder()
        #expect(silence(&ladder, from: 0, to: 1100) == [.forceKeyFrame])
        #expect(health(&ladder, from: 1100, to: 30_000) == [])
        #expect(silence(&ladder, from: 30_000, to: 31_100) == [.forceKeyFrame])
    }

    /// As the Pi's driver, which waits two seconds for what a stalled firmware has of either queue.
    @Test func softwareBridgesASlowClosingAndTheHardwareComesBackWithoutAGap() {
        var ladder = EncoderLadder()
        #expect(silence(&ladder, from: 0, to: 2200) == [.forceKeyFrame, .closeHardware])
        #expect(silence(&ladder, from: 2200, to: 3100) == [])
        #expect(
            ladder.frameSubmitted(now: time(3100))
                == [.openSoftware, software("no frame for 1.0 s, and closing it has not returned for 1.0 s")])
        #expect(silence(&ladder, from: 3200, to: 6100) == [])
        #expect(ladder.hardwareClosed(now: time(6100)) == [.openHardware])
        #expect(ladder.hardwareOpened(now: time(6200)) == [])
        #expect(ladder.feedsHardware && ladder.usesSoftware)
        #expect(
            ladder.hardwareEncoded(now: time(6240))
                == [.crossToHardware, restarted("the hardware encoder gives frames again")])
        #expect(health(&ladder, from: 6300, to: 30_000) == [])
    }

    @Test func softwareBridgesASlowOpeningToo() {
        var ladder = EncoderLadder()
        _ = silence(&ladder, from: 0, to: 2200)
        #expect(ladder.hardwareClosed(now: time(2200)) == [.openHardware])
        #expect(silence(&ladder, from: 2200, to: 4200) == [])
        #expect(ladder.frameSubmitted(now: time(4200)).first == .openSoftware)
        #expect(ladder.hardwareOpened(now: time(5000)) == [])
        #expect(ladder.hardwareEncoded(now: time(5050)).first == .crossToHardware)
    }

    @Test func anotherEncoderThatIsWantedOpensWithoutAWord() {
        var ladder = EncoderLadder(opening: time(0))
        #expect(!ladder.feedsHardware)
        #expect(silence(&ladder, from: 0, to: 500) == [])
        #expect(ladder.hardwareOpened(now: time(500)) == [] && ladder.feedsHardware)
        #expect(health(&ladder, from: 500, to: 20_000) == [])
        var slow = EncoderLadder(opening: time(0))
        #expect(
            silence(&slow, from: 0, to: 2100) == [.openSoftware, software("opening it has not returned for 2.0 s")])
    }

    /// A driver can keep a stale flag that closing it once heals.
    @Test func anOpeningThatFailsIsMadeOnceMoreBesideSoftware() {
        var ladder = EncoderLadder()
        _ = silence(&ladder, from: 0, to: 2200)
        _ = ladder.hardwareClosed(now: time(2200))
        #expect(
            ladder.openingFailed(reason: "silent", isDead: true, now: time(2300))
                == [.openSoftware, software("no frame for 1.0 s, and then: silent"), .closeHardware])
        #expect(ladder.hardwareClosed(now: time(2400)) == [.openHardware])
        #expect(ladder.hardwareOpened(now: time(2500)) == [])
        #expect(ladder.hardwareEncoded(now: time(2550)).first == .crossToHardware)
        #expect(!ladder.usesSoftware)
    }

    @Test func aRetryOpensTwiceAndLessOftenEachTimeThatItFails() {
        var ladder = EncoderLadder()
        let fall = ladder.openingFailed(reason: "gone", isDead: false, now: time(0))
        #expect(fall == [.openSoftware, software("gone")])
        #expect(silence(&ladder, from: 100, to: 60_000) == [])
        #expect(ladder.frameSubmitted(now: time(60_000)) == [.openHardware])
        #expect(ladder.usesSoftware)
        #expect(
            failTrial(&ladder, at: 60_010) == [
                .closeHardware, .openHardware, .closeHardware, software("the hardware encoder was tried again: gone"),
            ])
        #expect(silence(&ladder, from: 60_100, to: 180_000) == [])
        #expect(ladder.frameSubmitted(now: time(180_100)) == [.openHardware])
        #expect(ladder.hardwareOpened(now: time(180_200)) == [])
        #expect(ladder.hardwareEncoded(now: time(180_300)).first == .crossToHardware)
        #expect(health(&ladder, from: 180_300, to: 200_000) == [])
        #expect(!ladder.usesSoftware)
        // A trouble much later is met from the first step on.
        #expect(silence(&ladder, from: 200_000, to: 201_100) == [.forceKeyFrame])
    }

    @Test func aTrialThatStaysSilentIsMadeOnceMoreAndThenGivenUp() {
        var ladder = EncoderLadder()
        _ = ladder.openingFailed(reason: "gone", isDead: false, now: time(0))
        #expect(ladder.frameSubmitted(now: time(60_000)) == [.openHardware])
        _ = ladder.hardwareOpened(now: time(60_000))
        #expect(silence(&ladder, from: 60_000, to: 62_100) == [.closeHardware])
        #expect(!ladder.feedsHardware)
        #expect(ladder.hardwareClosed(now: time(62_200)) == [.openHardware])
        _ = ladder.hardwareOpened(now: time(62_300))
        #expect(silence(&ladder, from: 62_300, to: 64_400).first == .closeHardware)
        #expect(ladder.usesSoftware && !ladder.feedsHardware)
    }

    @Test func aTrialThatNeverOpensIsGivenUp() {
        var ladder = EncoderLadder()
        _ = ladder.openingFailed(reason: "gone", isDead: false, now: time(0))
        #expect(ladder.frameSubmitted(now: time(60_000)) == [.openHardware])
        #expect(silence(&ladder, from: 60_000, to: 70_100) == [.closeHardware])
        #expect(silence(&ladder, from: 70_100, to: 80_200).first == .closeHardware)
        #expect(silence(&ladder, from: 80_200, to: 190_000) == [])
    }

    @Test func firmwareThatNeverOpensAgainIsToldOnceAsDead() {
        var ladder = EncoderLadder()
        var now = Int64(0)
        var told: [Int64] = []
        _ = ladder.openingFailed(reason: "gone", isDead: true, now: time(now))
        for wait in [60, 120, 240, 480, 600] as [Int64] {
            now += wait * 1000
            #expect(ladder.frameSubmitted(now: time(now)) == [.openHardware])
            if failTrial(&ladder, at: now, isDead: true).contains(.emit(.hardwareEncoderDead(reason: "gone"))) {
                told.append(now)
            }
        }
        #expect(told == [180_000])
    }

    @Test func hardwareInUseByOthersIsNotDead() {
        var ladder = EncoderLadder()
        _ = ladder.openingFailed(reason: "busy", isDead: false, now: time(0))
        var now = Int64(0)
        for wait in [60, 120, 240, 480, 600] as [Int64] {
            now += wait * 1000
            _ = ladder.frameSubmitted(now: time(now))
            #expect(!failTrial(&ladder, at: now).contains(.emit(.hardwareEncoderDead(reason: "gone"))))
        }
    }

    @Test func softwareThatFailsEndsIt() {
        var ladder = EncoderLadder()
        #expect(ladder.openingFailed(reason: "EBUSY", isDead: false, now: time(0)).first == .openSoftware)
        #expect(
            ladder.softwareFailed(reason: "out of memory") == [
                .giveUp(reason: "out of memory"), .emit(.failed(.videoEncodingFailed, reason: "out of memory")),
            ])
        #expect(ladder.softwareFailed(reason: "again") == [] && ladder.frameSubmitted(now: time(60_000)) == [])
    }

    @Test func repeatedFaultsCountAsSilence() {
        var ladder = EncoderLadder()
        let steps = (0..<4).flatMap { ladder.frameFailed(now: time(Int64($0) * 200)) }
        #expect(steps == [.forceKeyFrame])
        let more = (4..<8).flatMap { ladder.frameFailed(now: time(Int64($0) * 200)) }
        #expect(more == [.closeHardware])
    }

    @Test func rareFaultsAreNone() {
        var ladder = EncoderLadder()
        for second in Int64(0)..<100 { #expect(ladder.frameFailed(now: time(second * 1000)) == []) }
    }

    @Test func aFailedCallReopensAtOnce() {
        var ladder = EncoderLadder()
        for count in Int64(0)..<2 {
            #expect(ladder.hardwareFailed(reason: "EIO", now: time(count * 100)) == [.closeHardware])
            #expect(reopen(&ladder, at: count * 100 + 10) == [.openHardware, restarted("EIO")])
        }
        #expect(ladder.hardwareFailed(reason: "EIO", now: time(200)).dropFirst().first == .openSoftware)
    }

    @Test func reopeningsFarApartAreEachTheFirst() {
        var ladder = EncoderLadder()
        for minute in Int64(0)..<20 {
            #expect(ladder.hardwareFailed(reason: "EIO", now: time(minute * 60_000)) == [.closeHardware])
            _ = reopen(&ladder, at: minute * 60_000)
            #expect(health(&ladder, from: minute * 60_000 + 100, to: minute * 60_000 + 50_000) == [])
        }
    }

    @Test func aCallThatDoesNotReturnLeadsToSoftwareAtOnce() {
        var ladder = EncoderLadder()
        #expect(health(&ladder, from: 0, to: 5000) == [])
        #expect(ladder.callBlocked(since: time(5000), now: time(6900)) == [])
        let fall = ladder.callBlocked(since: time(5000), now: time(7000))
        #expect(fall == [.closeHardware, .openSoftware, software("a call has not returned for 2.0 s")])
        #expect(ladder.callBlocked(since: time(5000), now: time(9000)) == [])
        #expect(silence(&ladder, from: 9000, to: 66_900) == [])
        #expect(ladder.frameSubmitted(now: time(67_000)) == [.openHardware])
        // It hangs once more, twice: later and later.
        for begin in [67_000, 70_000] as [Int64] {
            _ = ladder.hardwareOpened(now: time(begin))
            #expect(ladder.callBlocked(since: time(begin), now: time(begin + 2000)).first == .closeHardware)
            _ = ladder.hardwareClosed(now: time(begin + 2500))
        }
        #expect(ladder.frameSubmitted(now: time(191_900)) == [])
        #expect(ladder.frameSubmitted(now: time(192_000)) == [.openHardware])
    }

    @Test func theWaitForTheHardwareDoublesUpToTenMinutes() {
        var ladder = EncoderLadder()
        var now = Int64(0)
        _ = ladder.openingFailed(reason: "gone", isDead: false, now: time(now))
        for wait in [60, 120, 240, 480, 600, 600] as [Int64] {
            #expect(ladder.frameSubmitted(now: time(now + wait * 1000 - 1)) == [])
            now += wait * 1000
            #expect(ladder.frameSubmitted(now: time(now)) == [.openHardware])
            #expect(failTrial(&ladder, at: now).count == 4)
        }
        // It works again for longer than a recovery takes: the next fall waits as short as the first.
        now += 600_000
        #expect(ladder.frameSubmitted(now: time(now)) == [.openHardware])
        _ = ladder.hardwareOpened(now: time(now))
        #expect(ladder.hardwareEncoded(now: time(now + 20)).first == .crossToHardware)
        #expect(health(&ladder, from: now + 100, to: now + 20_000) == [])
        #expect(ladder.hardwareFailed(reason: "EIO", now: time(now + 20_000)) == [.closeHardware])
        _ = ladder.hardwareClosed(now: time(now + 20_000))
        let fall = failTrial(&ladder, at: now + 20_000)
        #expect(fall.first == .openSoftware && fall.last == .closeHardware)
        #expect(ladder.frameSubmitted(now: time(now + 79_900)) == [])
        #expect(ladder.frameSubmitted(now: time(now + 80_000)) == [.openHardware])
    }
}
