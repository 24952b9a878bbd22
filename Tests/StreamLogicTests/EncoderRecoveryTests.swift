import Media
import StreamLogic
import Testing

@Suite struct EncoderRecoveryTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    /// Frames are submitted at 10 fps without any output.
    private func silence(_ recovery: inout EncoderRecovery, from start: Int64, to end: Int64) -> [EncoderRecovery
        .Action]
    {
        stride(from: start, to: end, by: 100).flatMap { recovery.frameSubmitted(now: time($0)) }
    }

    /// The hardware outputs every frame.
    private func health(_ recovery: inout EncoderRecovery, from start: Int64, to end: Int64) -> [EncoderRecovery.Action]
    {
        stride(from: start, to: end, by: 100).flatMap {
            recovery.frameSubmitted(now: time($0)) + recovery.hardwareEncoded(now: time($0 + 20))
        }
    }

    /// The hardware is closed and reopened without delay.
    private func reopen(_ recovery: inout EncoderRecovery, at now: Int64) -> [EncoderRecovery.Action] {
        recovery.hardwareClosed(now: time(now)) + recovery.hardwareOpened(now: time(now + 50))
    }

    /// The hardware fails to open twice.
    private func failTrial(_ recovery: inout EncoderRecovery, at now: Int64, isDead: Bool = false) -> [EncoderRecovery
        .Action]
    {
        recovery.openingFailed(reason: "gone", isDead: isDead, now: time(now)) + recovery.hardwareClosed(now: time(now))
            + recovery.openingFailed(reason: "gone", isDead: isDead, now: time(now))
    }

    private func restarted(_ reason: String) -> EncoderRecovery.Action { .emit(.encoderRestarted(reason: reason)) }
    private func software(_ reason: String) -> EncoderRecovery.Action { .emit(.softwareEncoderInUse(reason: reason)) }

    @Test func nothingIsDoneWhileEveryFrameIsAnswered() {
        var recovery = EncoderRecovery()
        #expect(health(&recovery, from: 0, to: 100_000) == [])
        #expect(recovery.feedsHardware && !recovery.usesSoftware)
    }

    @Test func skipsShorterThanASecondAreNotAStall() {
        var recovery = EncoderRecovery()
        for start in stride(from: Int64(0), to: 60_000, by: 1000) {
            #expect(silence(&recovery, from: start, to: start + 900) == [])
            #expect(recovery.hardwareEncoded(now: time(start + 950)) == [])
        }
    }

    @Test func escalatesFromKeyframeToReopeningToSoftware() {
        var recovery = EncoderRecovery()
        #expect(silence(&recovery, from: 0, to: 1000) == [])
        #expect(recovery.frameSubmitted(now: time(1000)) == [.forceKeyframe])
        #expect(silence(&recovery, from: 1100, to: 2100) == [])
        #expect(recovery.frameSubmitted(now: time(2100)) == [.closeHardware])
        #expect(!recovery.feedsHardware && !recovery.usesSoftware)
        #expect(reopen(&recovery, at: 2150) == [.openHardware, restarted("no frame for 1.0 s")])
        #expect(recovery.feedsHardware)
        #expect(silence(&recovery, from: 2200, to: 3300) == [.closeHardware])
        #expect(reopen(&recovery, at: 3300) == [.openHardware, restarted("no frame for 1.0 s")])
        #expect(
            silence(&recovery, from: 3400, to: 4500)
                == [.closeHardware, .openSoftware, software("no frame for 1.0 s")])
        #expect(recovery.usesSoftware && !recovery.feedsHardware)
        #expect(recovery.hardwareClosed(now: time(4500)) == [])
        #expect(silence(&recovery, from: 4500, to: 60_000) == [])
    }

    @Test func successfulKeyframeIsTheOnlyStep() {
        var recovery = EncoderRecovery()
        #expect(silence(&recovery, from: 0, to: 1100) == [.forceKeyframe])
        #expect(health(&recovery, from: 1100, to: 30_000) == [])
        #expect(silence(&recovery, from: 30_000, to: 31_100) == [.forceKeyframe])
    }

    /// Like the Pi's driver, which waits two seconds for what a stalled firmware holds of either queue.
    @Test func softwareBridgesASlowClosingWithoutAGap() {
        var recovery = EncoderRecovery()
        #expect(silence(&recovery, from: 0, to: 2200) == [.forceKeyframe, .closeHardware])
        #expect(silence(&recovery, from: 2200, to: 3100) == [])
        #expect(
            recovery.frameSubmitted(now: time(3100))
                == [.openSoftware, software("no frame for 1.0 s, and closing it has not returned for 1.0 s")])
        #expect(silence(&recovery, from: 3200, to: 6100) == [])
        #expect(recovery.hardwareClosed(now: time(6100)) == [.openHardware])
        #expect(recovery.hardwareOpened(now: time(6200)) == [])
        #expect(recovery.feedsHardware && recovery.usesSoftware)
        #expect(
            recovery.hardwareEncoded(now: time(6240))
                == [.crossToHardware, restarted("the hardware encoder works again")])
        #expect(health(&recovery, from: 6300, to: 30_000) == [])
    }

    @Test func softwareBridgesASlowOpening() {
        var recovery = EncoderRecovery()
        _ = silence(&recovery, from: 0, to: 2200)
        #expect(recovery.hardwareClosed(now: time(2200)) == [.openHardware])
        #expect(silence(&recovery, from: 2200, to: 4200) == [])
        #expect(recovery.frameSubmitted(now: time(4200)).first == .openSoftware)
        #expect(recovery.hardwareOpened(now: time(5000)) == [])
        #expect(recovery.hardwareEncoded(now: time(5050)).first == .crossToHardware)
    }

    @Test func requestedEncoderOpensWithoutAReport() {
        var recovery = EncoderRecovery(opening: time(0))
        #expect(!recovery.feedsHardware)
        #expect(silence(&recovery, from: 0, to: 500) == [])
        #expect(recovery.hardwareOpened(now: time(500)) == [] && recovery.feedsHardware)
        #expect(health(&recovery, from: 500, to: 20_000) == [])
        var slow = EncoderRecovery(opening: time(0))
        #expect(
            silence(&slow, from: 0, to: 2100) == [.openSoftware, software("opening it has not returned for 2.0 s")])
    }

    /// A driver can keep a stale flag that only another close clears.
    @Test func failedOpeningIsRepeatedWhileSoftwareEncodes() {
        var recovery = EncoderRecovery()
        _ = silence(&recovery, from: 0, to: 2200)
        _ = recovery.hardwareClosed(now: time(2200))
        #expect(
            recovery.openingFailed(reason: "silent", isDead: true, now: time(2300))
                == [.openSoftware, software("no frame for 1.0 s, then: silent"), .closeHardware])
        #expect(recovery.hardwareClosed(now: time(2400)) == [.openHardware])
        #expect(recovery.hardwareOpened(now: time(2500)) == [])
        #expect(recovery.hardwareEncoded(now: time(2550)).first == .crossToHardware)
        #expect(!recovery.usesSoftware)
    }

    @Test func retryOpensTwiceAndLessOftenAfterEachFailure() {
        var recovery = EncoderRecovery()
        let fall = recovery.openingFailed(reason: "gone", isDead: false, now: time(0))
        #expect(fall == [.openSoftware, software("gone")])
        #expect(silence(&recovery, from: 100, to: 60_000) == [])
        #expect(recovery.frameSubmitted(now: time(60_000)) == [.openHardware])
        #expect(recovery.usesSoftware)
        #expect(
            failTrial(&recovery, at: 60_010) == [
                .closeHardware, .openHardware, .closeHardware, software("the hardware encoder was tried again: gone"),
            ])
        #expect(silence(&recovery, from: 60_100, to: 180_000) == [])
        #expect(recovery.frameSubmitted(now: time(180_100)) == [.openHardware])
        #expect(recovery.hardwareOpened(now: time(180_200)) == [])
        #expect(recovery.hardwareEncoded(now: time(180_300)).first == .crossToHardware)
        #expect(health(&recovery, from: 180_300, to: 200_000) == [])
        #expect(!recovery.usesSoftware)
        // A problem much later starts at the first step again.
        #expect(silence(&recovery, from: 200_000, to: 201_100) == [.forceKeyframe])
    }

    @Test func silentTrialIsRepeatedOnceAndThenGivenUp() {
        var recovery = EncoderRecovery()
        _ = recovery.openingFailed(reason: "gone", isDead: false, now: time(0))
        #expect(recovery.frameSubmitted(now: time(60_000)) == [.openHardware])
        _ = recovery.hardwareOpened(now: time(60_000))
        #expect(silence(&recovery, from: 60_000, to: 62_100) == [.closeHardware])
        #expect(!recovery.feedsHardware)
        #expect(recovery.hardwareClosed(now: time(62_200)) == [.openHardware])
        _ = recovery.hardwareOpened(now: time(62_300))
        #expect(silence(&recovery, from: 62_300, to: 64_400).first == .closeHardware)
        #expect(recovery.usesSoftware && !recovery.feedsHardware)
    }

    @Test func trialThatNeverOpensIsGivenUp() {
        var recovery = EncoderRecovery()
        _ = recovery.openingFailed(reason: "gone", isDead: false, now: time(0))
        #expect(recovery.frameSubmitted(now: time(60_000)) == [.openHardware])
        #expect(silence(&recovery, from: 60_000, to: 70_100) == [.closeHardware])
        #expect(silence(&recovery, from: 70_100, to: 80_200).first == .closeHardware)
        #expect(silence(&recovery, from: 80_200, to: 190_000) == [])
    }

    @Test func firmwareThatNeverReopensIsReportedDeadOnce() {
        var recovery = EncoderRecovery()
        var now = Int64(0)
        var reported: [Int64] = []
        _ = recovery.openingFailed(reason: "gone", isDead: true, now: time(now))
        for wait in [60, 120, 240, 480, 600] as [Int64] {
            now += wait * 1000
            #expect(recovery.frameSubmitted(now: time(now)) == [.openHardware])
            if failTrial(&recovery, at: now, isDead: true).contains(.emit(.hardwareEncoderDead(reason: "gone"))) {
                reported.append(now)
            }
        }
        #expect(reported == [180_000])
    }

    @Test func hardwareUsedByOthersIsNotDead() {
        var recovery = EncoderRecovery()
        _ = recovery.openingFailed(reason: "busy", isDead: false, now: time(0))
        var now = Int64(0)
        for wait in [60, 120, 240, 480, 600] as [Int64] {
            now += wait * 1000
            _ = recovery.frameSubmitted(now: time(now))
            #expect(!failTrial(&recovery, at: now).contains(.emit(.hardwareEncoderDead(reason: "gone"))))
        }
    }

    @Test func failedSoftwareEndsRecovery() {
        var recovery = EncoderRecovery()
        #expect(recovery.openingFailed(reason: "EBUSY", isDead: false, now: time(0)).first == .openSoftware)
        #expect(
            recovery.softwareFailed(reason: "out of memory") == [
                .giveUp(reason: "out of memory"), .emit(.failed(.videoEncodingFailed, message: "out of memory")),
            ])
        #expect(recovery.softwareFailed(reason: "again") == [] && recovery.frameSubmitted(now: time(60_000)) == [])
    }

    @Test func repeatedFaultsCountAsSilence() {
        var recovery = EncoderRecovery()
        let steps = (0..<4).flatMap { recovery.frameFailed(now: time(Int64($0) * 200)) }
        #expect(steps == [.forceKeyframe])
        let more = (4..<8).flatMap { recovery.frameFailed(now: time(Int64($0) * 200)) }
        #expect(more == [.closeHardware])
    }

    @Test func rareFaultsDoNotCount() {
        var recovery = EncoderRecovery()
        for second in Int64(0)..<100 { #expect(recovery.frameFailed(now: time(second * 1000)) == []) }
    }

    @Test func failedCallReopensAtOnce() {
        var recovery = EncoderRecovery()
        for count in Int64(0)..<2 {
            #expect(recovery.hardwareFailed(reason: "EIO", now: time(count * 100)) == [.closeHardware])
            #expect(reopen(&recovery, at: count * 100 + 10) == [.openHardware, restarted("EIO")])
        }
        #expect(recovery.hardwareFailed(reason: "EIO", now: time(200)).dropFirst().first == .openSoftware)
    }

    @Test func distantReopeningsAreCountedSeparately() {
        var recovery = EncoderRecovery()
        for minute in Int64(0)..<20 {
            #expect(recovery.hardwareFailed(reason: "EIO", now: time(minute * 60_000)) == [.closeHardware])
            _ = reopen(&recovery, at: minute * 60_000)
            #expect(health(&recovery, from: minute * 60_000 + 100, to: minute * 60_000 + 50_000) == [])
        }
    }

    @Test func blockedCallSwitchesToSoftwareAtOnce() {
        var recovery = EncoderRecovery()
        #expect(health(&recovery, from: 0, to: 5000) == [])
        #expect(recovery.callBlocked(since: time(5000), now: time(6900)) == [])
        let fall = recovery.callBlocked(since: time(5000), now: time(7000))
        #expect(fall == [.closeHardware, .openSoftware, software("a call has not returned for 2.0 s")])
        #expect(recovery.callBlocked(since: time(5000), now: time(9000)) == [])
        #expect(silence(&recovery, from: 9000, to: 66_900) == [])
        #expect(recovery.frameSubmitted(now: time(67_000)) == [.openHardware])
        // It hangs twice more, with a longer wait each time.
        for start in [67_000, 70_000] as [Int64] {
            _ = recovery.hardwareOpened(now: time(start))
            #expect(recovery.callBlocked(since: time(start), now: time(start + 2000)).first == .closeHardware)
            _ = recovery.hardwareClosed(now: time(start + 2500))
        }
        #expect(recovery.frameSubmitted(now: time(191_900)) == [])
        #expect(recovery.frameSubmitted(now: time(192_000)) == [.openHardware])
    }

    @Test func retryDelayDoublesUpToTenMinutes() {
        var recovery = EncoderRecovery()
        var now = Int64(0)
        _ = recovery.openingFailed(reason: "gone", isDead: false, now: time(now))
        for wait in [60, 120, 240, 480, 600, 600] as [Int64] {
            #expect(recovery.frameSubmitted(now: time(now + wait * 1000 - 1)) == [])
            now += wait * 1000
            #expect(recovery.frameSubmitted(now: time(now)) == [.openHardware])
            #expect(failTrial(&recovery, at: now).count == 4)
        }
        // The hardware works for longer than `recovery`: the next retry delay is the shortest again.
        now += 600_000
        #expect(recovery.frameSubmitted(now: time(now)) == [.openHardware])
        _ = recovery.hardwareOpened(now: time(now))
        #expect(recovery.hardwareEncoded(now: time(now + 20)).first == .crossToHardware)
        #expect(health(&recovery, from: now + 100, to: now + 20_000) == [])
        #expect(recovery.hardwareFailed(reason: "EIO", now: time(now + 20_000)) == [.closeHardware])
        _ = recovery.hardwareClosed(now: time(now + 20_000))
        let fall = failTrial(&recovery, at: now + 20_000)
        #expect(fall.first == .openSoftware && fall.last == .closeHardware)
        #expect(recovery.frameSubmitted(now: time(now + 79_900)) == [])
        #expect(recovery.frameSubmitted(now: time(now + 80_000)) == [.openHardware])
    }
}
