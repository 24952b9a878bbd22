import ApplianceLogic
import Media
import Testing

@Suite struct CardFilesTests {
    private var files = CardFiles(first: "faults.txt")

    private static func at(_ seconds: Double) -> MediaTimestamp { .zero + .milliseconds(Int64(seconds * 1000)) }

    private static func write(_ contents: [(String, [UInt8]?)]) -> [CardFiles.Action] {
        [.write(contents.map { CardFiles.File(name: $0.0, contents: $0.1) })]
    }

    private mutating func change(_ name: String, _ contents: [UInt8]?, at seconds: Double) -> [CardFiles.Action] {
        files.contentsChanged(of: name, to: contents, now: Self.at(seconds))
    }

    private mutating func fail(_ names: Set<String>, at seconds: Double) -> [CardFiles.Action] {
        files.written(failed: names, failure: "no room", now: Self.at(seconds))
    }

    private mutating func succeed(at seconds: Double) -> [CardFiles.Action] {
        files.written(failed: [], failure: nil, now: Self.at(seconds))
    }

    @Test mutating func newContentsAreWrittenAtOnceAndOnlyOnce() {
        #expect(change("faults.txt", [1], at: 0) == Self.write([("faults.txt", [1])]))
        #expect(succeed(at: 0.1) == [])
        #expect(files.timePassed(now: Self.at(100)) == [])
        #expect(!files.isBusy(now: Self.at(100)))
        #expect(change("faults.txt", nil, at: 101) == Self.write([("faults.txt", nil)]))
    }

    @Test mutating func oneWriteAtATimeWithFaultsFirst() {
        #expect(change("events.txt", [1], at: 0) == Self.write([("events.txt", [1])]))
        #expect(change("events.txt", [2], at: 0) == [])
        #expect(change("faults.txt", [3], at: 0) == [])
        #expect(files.isBusy(now: Self.at(50)))
        // A change during a write is written after it.
        #expect(succeed(at: 50) == Self.write([("faults.txt", [3]), ("events.txt", [2])]))
        #expect(succeed(at: 51) == [])
    }

    @Test mutating func onlyFailedFilesAreWrittenAgain() {
        _ = change("events.txt", [1], at: 0)
        _ = change("faults.txt", [2], at: 0)
        #expect(succeed(at: 1) == Self.write([("faults.txt", [2])]))
        _ = change("events.txt", [3], at: 1)
        #expect(fail(["faults.txt"], at: 2) == [])
        #expect(files.failure == "no room")
        #expect(!files.isBusy(now: Self.at(3)))
        #expect(files.timePassed(now: Self.at(3.9)) == [])
        #expect(files.timePassed(now: Self.at(4)) == Self.write([("faults.txt", [2]), ("events.txt", [3])]))
        #expect(fail(["events.txt"], at: 4) == [])
        #expect(files.timePassed(now: Self.at(8)) == Self.write([("events.txt", [3])]))
        #expect(succeed(at: 8) == [])
        #expect(files.failure == nil)
    }

    /// How often a card that stays full is written.
    @Test mutating func fullCardIsTriedLessAndLessOften() {
        var attempts: [Double] = []
        var actions = change("faults.txt", [1], at: 0)
        for second in stride(from: 0.0, to: 24 * 3600, by: 2) {
            if actions.isEmpty { actions = files.timePassed(now: Self.at(second)) }
            guard !actions.isEmpty else { continue }
            attempts.append(second)
            actions = fail(["faults.txt"], at: second)
        }
        #expect(attempts.prefix(9) == [0, 2, 6, 14, 30, 62, 126, 254, 510])
        #expect(attempts.count < 300)
        // The next attempt finds room.
        #expect(files.timePassed(now: Self.at(25 * 3600)).count == 1)
        #expect(succeed(at: 25 * 3600) == [])
        #expect(files.failure == nil)
    }

    /// A fault that appears and disappears every two seconds, for a day.
    @Test(arguments: [true, false]) mutating func alternatingFaultDoesNotWearOutTheCard(works: Bool) {
        var writes = 0
        for second in stride(from: 0.0, to: 24 * 3600, by: 2) {
            var actions = change("faults.txt", [UInt8(Int(second) / 2 % 2)], at: second)
            while !actions.isEmpty {
                writes += 1
                actions = works ? succeed(at: second) : fail(["faults.txt"], at: second)
            }
        }
        #expect(writes > 1000 && writes <= CardFiles.writesInARow + 24 * 60 + 1)
    }

    /// Many presses, and then a power-off: its event must be on the card.
    @Test mutating func lastEventIsWrittenDespiteManyWrites() {
        for number in 0..<UInt8(CardFiles.writesInARow) {
            #expect(change("events", [number], at: 1) == Self.write([("events", [number])]))
            #expect(succeed(at: 1) == [])
        }
        #expect(change("events", [0xFF], at: 2) == [])
        #expect(!files.isBusy(now: Self.at(2)))
        #expect(files.endNeared(now: Self.at(2)) == Self.write([("events", [0xFF])]))
        #expect(files.isBusy(now: Self.at(2)))
        #expect(succeed(at: 3) == [])
        #expect(!files.isBusy(now: Self.at(3)))
    }

    @Test mutating func failedWriteIsRepeatedOnceAtTheEnd() {
        _ = change("faults.txt", [1], at: 0)
        #expect(fail(["faults.txt"], at: 1) == [])
        #expect(files.endNeared(now: Self.at(1.5)) == Self.write([("faults.txt", [1])]))
        // But not again and again.
        #expect(fail(["faults.txt"], at: 1.6) == [])
        #expect(!files.isBusy(now: Self.at(1.7)))
    }

    @Test func cardThatDoesNotRespondIsReportedUntilItRecovers() {
        var watch = CardWatch()
        watch.jobGiven(now: Self.at(0))
        watch.jobGiven(now: Self.at(50))
        #expect(watch.failure(now: Self.at(60)) == nil)
        #expect(watch.failure(now: Self.at(61)) != nil)
        watch.jobAnswered(now: Self.at(70))
        // The second job has waited for the first one, so its time starts later.
        #expect(watch.failure(now: Self.at(111)) == nil && !watch.isIdle)
        #expect(watch.failure(now: Self.at(131)) != nil)
        watch.jobAnswered(now: Self.at(140))
        #expect(watch.failure(now: Self.at(1000)) == nil && watch.isIdle)
        watch.jobAnswered(now: Self.at(1000))
    }
}
