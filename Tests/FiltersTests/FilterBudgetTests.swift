import Filters
import Media
import Testing

@Suite struct FilterBudgetTests {
    /// The actions, with their times in seconds, for frames of these costs at 25 per second.
    private func actions(seconds: Int, _ cost: (Double) -> Int) -> [(second: Double, FilterBudget.Action)] {
        var budget = FilterBudget()
        var actions: [(second: Double, FilterBudget.Action)] = []
        for frame in 0..<seconds * 25 {
            let time = MediaTimestamp(milliseconds: Int64(frame) * 40)
            let second = Double(frame) / 25
            if let action = budget.frameFiltered(cost: .milliseconds(cost(second)), at: time) {
                actions.append((second, action))
            }
        }
        return actions
    }

    /// Milliseconds of the filters, of everything, and charged to the filters.
    @Test(arguments: [(1, 30, 1), (1, 500, 1), (9, 100, 9), (10, 100, 80), (30, 60, 40), (50, 110, 90), (90, 100, 90)])
    func filtersAreChargedForExcessOnlyIfTheyAreSignificant(_ filters: Int, _ everything: Int, _ charge: Int) {
        let charged = FilterBudget.charge(filters: .milliseconds(filters), everything: .milliseconds(everything))
        #expect(charged == .milliseconds(charge))
    }

    @Test func fastEnoughChainStays() {
        #expect(actions(seconds: 60) { _ in 80 }.isEmpty)
        // Short moments do not count.
        #expect(actions(seconds: 60) { $0.truncatingRemainder(dividingBy: 2) < 0.9 ? 200 : 10 }.isEmpty)
    }

    @Test func slowChainLosesOneFilterAfterAnother() {
        let done = actions(seconds: 4) { $0 < 2.5 ? 150 : 20 }
        #expect(done.map(\.second) == [1, 2.04] && done.allSatisfy { $0.1 == .drop })
    }

    @Test func droppedFilterIsTriedLessAndLessOften() {
        // Too slow whenever it is active.
        var isThere = true
        var budget = FilterBudget()
        var trials: [Int] = []
        for tenth in 0..<20_000 {
            let time = MediaTimestamp(milliseconds: Int64(tenth) * 100)
            switch budget.frameFiltered(cost: .milliseconds(isThere ? 120 : 10), at: time) {
            case .drop: isThere = false
            case .restore:
                isThere = true
                trials.append(tenth / 10)
            case nil: break
            }
        }
        let pauses = zip(trials, trials.dropFirst()).map { $1 - $0 }
        #expect(trials.first == 31 && pauses.prefix(4).map { $0 / 30 } == [2, 4, 8, 16] && (pauses.max() ?? 0) <= 482)
    }

    @Test func successfulTrialResetsThePause() {
        // Slow for a second every one and a half minutes: it returns after half a minute each time.
        var isThere = true
        var budget = FilterBudget()
        var trials: [Int] = []
        for tenth in 0..<3_000 {
            let isSlow = isThere && tenth % 900 < 20
            switch budget.frameFiltered(
                cost: .milliseconds(isSlow ? 120 : 10), at: MediaTimestamp(milliseconds: Int64(tenth) * 100))
            {
            case .drop: isThere = false
            case .restore:
                isThere = true
                trials.append(tenth / 10)
            case nil: break
            }
        }
        #expect(trials == [31, 121, 211])
    }

    @Test func changedChainStartsFresh() {
        var budget = FilterBudget()
        for tenth in 0..<12 {
            _ = budget.frameFiltered(cost: .milliseconds(200), at: MediaTimestamp(milliseconds: Int64(tenth) * 100))
        }
        budget.chainChanged()
        #expect(budget == FilterBudget())
    }
}
