import ApplianceLogic
import Media
import Testing

@Suite struct StreamResumptionTests {
    private static func at(_ seconds: Int64) -> MediaTimestamp { .zero + .seconds(seconds) }

    /// A run of the program that ends at any time; the next run finds the state that it leaves.
    private func run(
        _ saved: String?, at seconds: Int64, boot: String = "a", wishes: [Bool] = []
    ) -> (start: StreamResumption.Start, saved: String) {
        var resumption = StreamResumption(savedText: saved, boot: boot)
        let start = resumption.programStarted(now: Self.at(seconds))
        for isWanted in wishes { _ = resumption.wishChanged(to: isWanted) }
        return (start, resumption.savedText)
    }

    @Test func onlyAWantedStreamResumes() {
        let first = run(nil, at: 5, wishes: [true])
        #expect(first.start == .first && first.saved == "wanted a\n")
        let second = run(first.saved, at: 100)
        #expect(second.start == .resumes(1) && second.saved == "wanted a 100000\n")
        let third = run(second.saved, at: 130, wishes: [false])
        #expect(third.start == .resumes(2))
        // A person stopped the stream before the program crashed.
        #expect(run(third.saved, at: 140).start == .again)
    }

    @Test func pausedStreamResumesPaused() {
        var resumption = StreamResumption(savedText: nil, boot: "a")
        _ = resumption.programStarted(now: .zero)
        let changes = [(true, false), (true, true), (true, true)].map { resumption.wishChanged(to: $0, isPaused: $1) }
        #expect(changes == [true, true, false] && resumption.savedText == "paused a\n")
        var next = StreamResumption(savedText: resumption.savedText, boot: "a")
        #expect(next.programStarted(now: Self.at(9)) == .resumes(1) && next.isWanted && next.isPaused)
        #expect(next.wishChanged(to: false, isPaused: true) == true)
        #expect(!next.isPaused && next.savedText.hasPrefix("idle a"))
        #expect(!StreamResumption(savedText: "paused a\n", boot: "b").isPaused, "another run of the machine")
    }

    @Test func nothingResumesAfterAPowerCut() {
        let first = run(nil, at: 5, wishes: [true])
        #expect(run(first.saved, at: 5, boot: "b").start == .first)
    }

    @Test func streamThatKeepsCrashingTheProgramIsGivenUp() {
        var saved = run(nil, at: 0, wishes: [true]).saved
        var starts: [StreamResumption.Start] = []
        for number in Int64(1)...5 {
            let next = run(saved, at: 20 * number)
            starts.append(next.start)
            saved = next.saved
        }
        #expect(starts == [.resumes(1), .resumes(2), .resumes(3), .stands, .again])
        // A press starts it again, but the earlier crashes still count.
        saved = run(saved, at: 120, wishes: [true]).saved
        #expect(run(saved, at: 130).start == .stands)
        #expect(run(saved, at: 619).start == .stands)
        #expect(run(saved, at: 621).start == .resumes(3))
    }

    @Test func rareCrashesAreForgotten() {
        var saved: String? = run(nil, at: 0, wishes: [true]).saved
        for number in Int64(1)...50 {
            let next = run(saved, at: 250 * number)
            if case .resumes = next.start {} else { Issue.record("\(next.start) at the \(number)th death") }
            saved = next.saved
        }
    }

    @Test func onlyChangesAreSaved() {
        var resumption = StreamResumption(savedText: nil, boot: "a")
        #expect([true, true, false, false].map { resumption.wishChanged(to: $0) } == [true, false, true, false])
    }

    @Test(arguments: [
        "", "wanted", "wanted b 1", "x a", "wanted a -1 x 99999999999999999999", "wanted a 1 2 3 4 5 6 7", "\u{0}",
    ])
    func garbageNeverAllowsMoreThanTheLimit(text: String) {
        var saved = text
        var resumed = 0
        for second in Int64(10)..<40 {
            let next = run(saved, at: second)
            if case .resumes = next.start { resumed += 1 }
            saved = next.saved
        }
        #expect(resumed <= StreamResumption.most)
    }
}
