import Media
import Testing

@testable import StreamLogic

/// Scripts of what becomes of an encoder when another size or another source is wanted. Sources are named by letters.
final class EncoderSuccessionTests {
    private typealias Succession = EncoderSuccession<String>
    private static let large = FrameSize(width: 640, height: 352)
    private static let small = FrameSize(width: 320, height: 176)
    private static let timeout = Duration.seconds(5)

    private var succession = Succession(openTimeout: timeout)

    private static func configuration(_ size: FrameSize, kilobits: Int = 500) -> VideoEncoderConfiguration {
        VideoEncoderConfiguration(
            size: size, frameRate: FrameRate(framesPerSecond: 30), bitrate: Bitrate(kilobitsPerSecond: kilobits),
            profile: .baseline, level: .level3_0, keyframeInterval: 60)
    }

    private static func situation(
        _ present: Succession.Present = .hardware, _ progress: Succession.Progress? = nil,
        isInAnotherSize: Bool = false, takesFullFrames: Bool = true
    ) -> Succession.Situation {
        Succession.Situation(
            present: present, size: large, progress: progress, isInAnotherSize: isInAnotherSize,
            takesFullFrames: takesFullFrames)
    }

    private func frame(_ situation: Succession.Situation, at seconds: Double = 0) -> [Succession.Action] {
        succession.frameArrived(situation, now: MediaTimestamp(nanoseconds: Int64(seconds * 1e9)))
    }

    private func want(_ size: FrameSize, kilobits: Int = 500) -> [Succession.Action] {
        succession.sizeWanted(Self.configuration(size, kilobits: kilobits))
    }

    private func expect(_ source: String) -> [Succession.Action] { succession.sourceExpected(source) }
    private func withdrawSource() -> [Succession.Action] { succession.sourceWithdrawn() }

    private func change(to source: String, _ situation: Succession.Situation) -> [Succession.Action] {
        succession.sourceChanged(to: source, situation)
    }

    private func isLeftOver(isInAnotherSize: Bool, at milliseconds: Int64) -> Bool {
        succession.isLeftOver(isInAnotherSize: isInAnotherSize, now: MediaTimestamp(milliseconds: milliseconds))
    }

    /// A successor for the small size starts to open.
    private func startSmall() {
        #expect(want(Self.small) == [])
        #expect(frame(Self.situation()) == [.openSuccessor])
    }

    @Test func nothingHappensWhileNothingIsWanted() {
        for present in [Succession.Present.hardware, .unsettledHardware, .software, .softwareAndTrial, .none] {
            #expect(frame(Self.situation(present)) == [])
        }
    }

    @Test func successorOpensBesideThePresentAndTakesOver() {
        startSmall()
        #expect(frame(Self.situation(.hardware, .opening), at: 1) == [])
        #expect(frame(Self.situation(.hardware, .open), at: 2) == [.crossToSuccessor])
        succession.goalAdopted(isOtherSource: false)
        #expect(succession.wanted == nil && frame(Self.situation()) == [])
    }

    @Test func lastOfSeveralSizesCounts() {
        startSmall()
        #expect(want(Self.large, kilobits: 300) == [.closeSuccessor])
        #expect(frame(Self.situation()) == [.setRates(Self.configuration(Self.large, kilobits: 300))])
        #expect(frame(Self.situation()) == [])
    }

    @Test func ratesThatChangeMeanwhileHoldForTheSuccessor() {
        startSmall()
        succession.ratesChanged { $0.bitrate = Bitrate(kilobitsPerSecond: 250) }
        #expect(succession.wanted == Self.configuration(Self.small, kilobits: 250))
    }

    @Test(arguments: [
        Succession.Progress.failed(reason: "no such size", leavesRoomForOne: false), .ended, .opening,
    ])
    private func refusedSizeIsReportedOnceAndNotTriedAgain(_ progress: Succession.Progress) {
        startSmall()
        // `opening`: it has not opened in time.
        let actions = frame(Self.situation(.hardware, progress), at: 5)
        #expect(actions.first == .closeSuccessor && actions.count == 2)
        guard case .reportRefusal = actions.last else { return #expect(Bool(false), "no refusal") }
        #expect(succession.wanted == nil && frame(Self.situation(), at: 6) == [])
    }

    @Test func withMemoryForOneTheyChangeInPlace() {
        startSmall()
        let noMemory = Succession.Progress.failed(reason: "no memory", leavesRoomForOne: true)
        #expect(frame(Self.situation(.hardware, noMemory)) == [.closeSuccessor, .openInPlace])
        succession.goalAdopted(isOtherSource: false)
        #expect(frame(Self.situation(.unsettledHardware)) == [])
    }

    @Test func hardwareThatIsRecoveringIsWaitedFor() {
        _ = want(Self.small)
        #expect(frame(Self.situation(.unsettledHardware)) == [])
        #expect(frame(Self.situation(.none)) == [])
        #expect(frame(Self.situation(.softwareAndTrial)) == [], "the trial gets its answer first")
        #expect(frame(Self.situation(.hardware)) == [.openSuccessor])
    }

    @Test func successorThatClosedWithThePresentIsOpenedAgain() {
        startSmall()
        succession.successorClosed()
        #expect(frame(Self.situation(.none)) == [])
        #expect(frame(Self.situation(.hardware)) == [.openSuccessor])
    }

    @Test func softwareIsResizedAtOnce() {
        _ = want(Self.small)
        #expect(frame(Self.situation(.software)) == [.resizeSoftware])
        let actions = succession.refused("no")
        #expect(actions == [.reportRefusal(reason: "no")])
        #expect(frame(Self.situation(.software)) == [])
    }

    // MARK: Sources of several sizes

    @Test func successorWaitsForFramesOfItsSize() {
        startSmall()
        let other = Self.situation(.hardware, .open, isInAnotherSize: true, takesFullFrames: false)
        #expect(!succession.awaitsSize)
        #expect(frame(other, at: 1) == [])
        #expect(succession.awaitsSize)
        #expect(frame(other, at: 2.9) == [])
        #expect(frame(Self.situation(.hardware, .open), at: 2.95) == [.crossToSuccessor])
    }

    @Test func sizeThatDoesNotComeIsMadeByScaling() {
        startSmall()
        let other = Self.situation(.hardware, .open, isInAnotherSize: true, takesFullFrames: false)
        #expect(frame(other, at: 1) == [])
        #expect(frame(other, at: 3) == [.closeSuccessor, .reportScaling])
        #expect(succession.isSecondSizeGivenUp)
        #expect(frame(Self.situation(), at: 3.1) == [.openSuccessor])
        succession.goalAdopted(isOtherSource: true)
        #expect(!succession.isSecondSizeGivenUp, "the next source is asked again")
    }

    @Test func smallFramesAfterTheFullSizeReturnedAreDroppedForAWhile() {
        startSmall()
        let other = Self.situation(.hardware, .open, isInAnotherSize: true)
        #expect(frame(other, at: 1) == [])
        #expect(frame(other, at: 3) == [.crossToSuccessor], "full frames were asked for: nothing better can come")
        succession.goalAdopted(isOtherSource: false)
        #expect(!isLeftOver(isInAnotherSize: true, at: 3100))
        #expect(!isLeftOver(isInAnotherSize: false, at: 3200))
        #expect(isLeftOver(isInAnotherSize: true, at: 3300))
        #expect(!isLeftOver(isInAnotherSize: true, at: 5300))
    }

    // MARK: Another source

    @Test func successorForAnotherSourceTakesOverWithItsFirstFrame() {
        #expect(expect("B") == [])
        #expect(frame(Self.situation()) == [.openSuccessor])
        #expect(succession.preparation == .underWay)
        #expect(frame(Self.situation(.hardware, .open)) == [])
        #expect(succession.preparation == .ready)
        #expect(expect("B") == [], "asked again, it goes on")
        #expect(change(to: "B", Self.situation(.hardware, .open)) == [.crossToSuccessor])
        succession.goalAdopted(isOtherSource: true)
        succession.sourceSettled()
        #expect(succession.nextFrames == nil && frame(Self.situation()) == [])
    }

    @Test(arguments: [
        (Succession.Present.software, Succession.Action.replaceSoftware), (.softwareAndTrial, .replaceSoftware),
        (.hardware, .openInPlace), (.unsettledHardware, .openInPlace), (.none, .adoptGoal),
    ])
    private func sourceThatComesUnpreparedChangesInPlace(
        _ present: Succession.Present, _ action: Succession.Action
    ) {
        #expect(change(to: "B", Self.situation(present)) == [action])
        succession.sourceSettled()
        #expect(succession.nextFrames == nil)
    }

    @Test func successorThatIsNotOpenInTimeIsNotWaitedFor() {
        _ = expect("B")
        #expect(frame(Self.situation()) == [.openSuccessor])
        let actions = change(to: "B", Self.situation(.hardware, .opening))
        #expect(actions == [.closeSuccessor, .openInPlace])
    }

    @Test func successorForOneSourceIsNotUsedForAnother() {
        _ = expect("B")
        #expect(frame(Self.situation()) == [.openSuccessor])
        #expect(frame(Self.situation(.hardware, .open)) == [])
        let actions = change(to: "C", Self.situation(.hardware, .open))
        #expect(actions == [.closeSuccessor, .openInPlace])
    }

    @Test func withMemoryForOneASourceIsReadyWithoutASuccessor() {
        _ = expect("B")
        #expect(frame(Self.situation()) == [.openSuccessor])
        let noMemory = Succession.Progress.failed(reason: "no memory", leavesRoomForOne: true)
        #expect(frame(Self.situation(.hardware, noMemory)) == [.closeSuccessor])
        #expect(succession.preparation == .ready && frame(Self.situation()) == [])
        #expect(change(to: "B", Self.situation()) == [.openInPlace])
    }

    @Test func sourceThatNoEncoderTakesIsRefusedAndTheSizeStays() {
        _ = expect("B")
        #expect(frame(Self.situation()) == [.openSuccessor])
        let refusal = Succession.Progress.failed(reason: "format", leavesRoomForOne: false)
        #expect(frame(Self.situation(.hardware, refusal)) == [.closeSuccessor], "no size was wanted")
        #expect(succession.preparation == .failed(reason: "format"))
        #expect(frame(Self.situation()) == [])
        #expect(withdrawSource() == [])
        #expect(succession.nextFrames == nil)
    }

    @Test func sourceThatIsWithdrawnLeavesTheWantedSize() {
        _ = want(Self.small)
        _ = expect("B")
        #expect(frame(Self.situation()) == [.openSuccessor])
        #expect(withdrawSource() == [.closeSuccessor])
        #expect(frame(Self.situation()) == [.openSuccessor])
        #expect(succession.wanted?.size == Self.small)
    }

    @Test func softwareIsReadyForAnySource() {
        _ = expect("B")
        #expect(frame(Self.situation(.software)) == [])
        #expect(succession.preparation == .ready)
    }

    @Test func openSuccessorThatClosedWithThePresentLeavesItsSourceReady() {
        _ = expect("B")
        #expect(frame(Self.situation()) == [.openSuccessor])
        #expect(frame(Self.situation(.hardware, .open)) == [])
        succession.successorClosed()
        #expect(succession.preparation == .ready)
        #expect(change(to: "B", Self.situation(.none)) == [.adoptGoal])
    }
}
