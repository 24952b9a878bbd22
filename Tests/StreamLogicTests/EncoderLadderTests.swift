import Media
import StreamLogic
import Testing

@Suite struct EncoderLadderTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    /// Pictures go in at 10 fps and nothing comes out.
    private func silence(_ ladder: inout EncoderLadder, from begin: Int64, to end: Int64) -> [EncoderLadder.Action] {
        stride(from: begin, to: end, by: 100).flatMap { ladder.pictureSubmitted(now: time($0)) }
    }

    /// Every picture is answered.
    private func health(_ ladder: inout EncoderLadder, from begin: Int64, to end: Int64) -> [EncoderLadder.Action] {
        stride(from: begin, to: end, by: 100).flatMap {
            ladder.pictureSubmitted(now: time($0)) + ladder.pictureEncoded(now: time($0 + 20))
        }
    }

    @Test func nothingIsDoneWhileEveryPictureIsAnswered() {
        var ladder = EncoderLadder()
        #expect(health(&ladder, from: 0, to: 100_000) == [])
    }

    @Test func skipsShorterThanASecondAreNoStall() {
        var ladder = EncoderLadder()
        for begin in stride(from: Int64(0), to: 60_000, by: 1000) {
            #expect(silence(&ladder, from: begin, to: begin + 900) == [])
            #expect(ladder.pictureEncoded(now: time(begin + 950)) == [])
        }
    }

    @Test func climbsFromAKeyFrameOverReopeningToSoftware() {
        var ladder = EncoderLadder()
        #expect(silence(&ladder, from: 0, to: 1000) == [])
        #expect(ladder.pictureSubmitted(now: time(1000)) == [.forceKeyFrame])
        #expect(silence(&ladder, from: 1100, to: 2100) == [])
        let reopening: [EncoderLadder.Action] = [
            .reopenHardware, .emit(.encoderRestarted(reason: "no picture for 1.0 s")),
        ]
        #expect(ladder.pictureSubmitted(now: time(2100)) == reopening)
        #expect(silence(&ladder, from: 2200, to: 3300) == reopening)
        #expect(
            silence(&ladder, from: 3300, to: 4400)
                == [.openSoftware, .emit(.softwareEncoderInUse(reason: "no picture for 1.0 s"))])
        #expect(ladder.usesSoftware)
        #expect(health(&ladder, from: 4400, to: 60_000) == [])
    }

    @Test func aKeyFrameThatHelpsIsTheOnlyStep() {
        var ladder = EncoderLadder()
        #expect(silence(&ladder, from: 0, to: 1100) == [.forceKeyFrame])
        #expect(health(&ladder, from: 1100, to: 30_000) == [])
        #expect(silence(&ladder, from: 30_000, to: 31_100) == [.forceKeyFrame])
    }

    @Test func triesTheHardwareAgainAndLessOftenEachTimeThatItFails() {
        var ladder = EncoderLadder()
        let fall = ladder.openingFailed(reason: "gone", now: time(0))
        #expect(fall == [.openSoftware, .emit(.softwareEncoderInUse(reason: "gone"))])
        #expect(health(&ladder, from: 100, to: 60_000) == [])
        #expect(ladder.pictureSubmitted(now: time(60_000)).first == .reopenHardware)
        #expect(ladder.openingFailed(reason: "gone", now: time(60_010)).first == .openSoftware)
        #expect(health(&ladder, from: 60_100, to: 180_000) == [])
        #expect(ladder.pictureSubmitted(now: time(180_100)).first == .reopenHardware)
        #expect(health(&ladder, from: 180_200, to: 200_000) == [])
        #expect(!ladder.usesSoftware)
    }

    @Test func aStreamThatBeginsInSoftwareGoesToTheHardwareWhenThatWorks() {
        var ladder = EncoderLadder()
        #expect(
            ladder.openingFailed(reason: "EBUSY", now: time(0))
                == [.openSoftware, .emit(.softwareEncoderInUse(reason: "EBUSY"))])
        #expect(ladder.usesSoftware)
        #expect(health(&ladder, from: 0, to: 60_000) == [])
        #expect(
            ladder.pictureSubmitted(now: time(60_000))
                == [.reopenHardware, .emit(.encoderRestarted(reason: "the hardware encoder is tried again"))])
        #expect(!ladder.usesSoftware)
        #expect(health(&ladder, from: 60_100, to: 200_000) == [])
        // A trouble much later is met from the first step on.
        #expect(silence(&ladder, from: 200_000, to: 201_100) == [.forceKeyFrame])
    }

    @Test func softwareThatCannotBeOpenedAtTheBeginEndsIt() {
        var ladder = EncoderLadder()
        #expect(ladder.openingFailed(reason: "EBUSY", now: time(0)).first == .openSoftware)
        #expect(
            ladder.encoderFailed(reason: "out of memory", now: time(1)) == [
                .giveUp(reason: "out of memory"), .emit(.failed(.videoEncodingFailed, reason: "out of memory")),
            ])
        #expect(ladder.pictureSubmitted(now: time(60_000)) == [])
    }

    @Test func aTrialThatStaysSilentGoesBackToSoftwareAtOnce() {
        var ladder = EncoderLadder()
        _ = ladder.openingFailed(reason: "gone", now: time(0))
        #expect(ladder.pictureSubmitted(now: time(60_000)).first == .reopenHardware)
        #expect(silence(&ladder, from: 60_100, to: 61_200).first == .openSoftware)
    }

    @Test func repeatedFaultsCountAsSilence() {
        var ladder = EncoderLadder()
        let steps = (0..<4).flatMap { ladder.pictureFailed(now: time(Int64($0) * 200)) }
        #expect(steps == [.forceKeyFrame])
        let more = (4..<8).flatMap { ladder.pictureFailed(now: time(Int64($0) * 200)) }
        #expect(more.first == .reopenHardware)
    }

    @Test func rareFaultsAreNone() {
        var ladder = EncoderLadder()
        for second in Int64(0)..<100 { #expect(ladder.pictureFailed(now: time(second * 1000)) == []) }
    }

    @Test func aFailedCallReopensAndAFailureOfSoftwareEndsIt() {
        var ladder = EncoderLadder()
        #expect(ladder.encoderFailed(reason: "EIO", now: time(0)).first == .reopenHardware)
        #expect(ladder.encoderFailed(reason: "EIO", now: time(100)).first == .reopenHardware)
        #expect(ladder.encoderFailed(reason: "EIO", now: time(200)).first == .openSoftware)
        #expect(
            ladder.encoderFailed(reason: "out of memory", now: time(300)) == [
                .giveUp(reason: "out of memory"), .emit(.failed(.videoEncodingFailed, reason: "out of memory")),
            ])
        #expect(ladder.encoderFailed(reason: "again", now: time(400)) == [])
    }

    @Test func reopeningsFarApartAreEachTheFirst() {
        var ladder = EncoderLadder()
        for minute in Int64(0)..<20 {
            #expect(ladder.encoderFailed(reason: "EIO", now: time(minute * 60_000)).first == .reopenHardware)
            #expect(health(&ladder, from: minute * 60_000 + 100, to: minute * 60_000 + 50_000) == [])
        }
    }

    @Test func aCallThatDoesNotReturnLeadsToSoftwareAtOnce() {
        var ladder = EncoderLadder()
        #expect(health(&ladder, from: 0, to: 5000) == [])
        #expect(ladder.callBlocked(since: time(5000), now: time(6900)) == [])
        let fall = ladder.callBlocked(since: time(5000), now: time(7000))
        #expect(
            fall == [.openSoftware, .emit(.softwareEncoderInUse(reason: "a call has not returned for 2.0 s"))])
        #expect(ladder.callBlocked(since: time(5000), now: time(9000)) == [])
        #expect(health(&ladder, from: 9000, to: 66_900) == [])
        #expect(ladder.pictureSubmitted(now: time(67_000)).first == .reopenHardware)
        // It hangs once more: later and later.
        #expect(ladder.callBlocked(since: time(67_000), now: time(69_000)).first == .openSoftware)
        #expect(ladder.pictureSubmitted(now: time(188_900)) == [])
        #expect(ladder.pictureSubmitted(now: time(189_000)).first == .reopenHardware)
    }

    @Test func theWaitForTheHardwareDoublesUpToTenMinutes() {
        var ladder = EncoderLadder()
        var now = Int64(0)
        _ = ladder.openingFailed(reason: "gone", now: time(now))
        for wait in [60, 120, 240, 480, 600, 600] as [Int64] {
            #expect(ladder.pictureSubmitted(now: time(now + wait * 1000 - 1)) == [])
            now += wait * 1000
            #expect(ladder.pictureSubmitted(now: time(now)).first == .reopenHardware)
            #expect(ladder.openingFailed(reason: "gone", now: time(now)).first == .openSoftware)
        }
        // It works again for longer than a recovery takes: the next fall waits as short as the first.
        now += 600_000
        #expect(ladder.pictureSubmitted(now: time(now)).first == .reopenHardware)
        #expect(health(&ladder, from: now, to: now + 20_000) == [])
        #expect(ladder.encoderFailed(reason: "EIO", now: time(now + 20_000)).first == .reopenHardware)
        #expect(ladder.openingFailed(reason: "EIO", now: time(now + 20_000)).first == .openSoftware)
        #expect(ladder.pictureSubmitted(now: time(now + 80_000)).first == .reopenHardware)
    }
}
