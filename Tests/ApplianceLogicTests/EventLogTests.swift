import ApplianceLogic
import Media
import Testing

@Suite struct EventLogTests {
    private var log = EventLog(before: [], now: .zero)

    private static func at(_ seconds: Int64) -> MediaTimestamp { .zero + .seconds(seconds) }

    private mutating func happen(_ text: String, at seconds: Int64) {
        log.happened(text, stamp: "\(seconds)", now: Self.at(seconds))
    }

    private mutating func takesUrgent(at seconds: Int64) -> Bool {
        log.takeUnwritten(isUrgent: true, now: Self.at(seconds)) != nil
    }

    /// No camera for a day: it is retried every 15 s, with the same report each time.
    @Test mutating func repeatedEventsAreCountedAndNotWritten() {
        happen("button pressed", at: 0)
        var writes = 0
        for second in stride(from: Int64(0), to: 24 * 3600, by: 15) {
            for text in ["connecting", "no camera", "fault: no camera (4 blinks)"] { happen(text, at: second) }
            if takesUrgent(at: second) { writes += 1 }
        }
        #expect(writes == 1)
        #expect(
            log.lines == [
                "0 button pressed", "0 connecting (5760 times, the last 86385)",
                "0 no camera (5760 times, the last 86385)",
                "0 fault: no camera (4 blinks) (5760 times, the last 86385)",
            ])
        let last = log.takeLast(now: Self.at(86400))
        #expect(last != nil)
        let again = log.takeLast(now: Self.at(86400))
        #expect(again == nil)
    }

    @Test mutating func actionsOfAPersonAreNewEachTime() {
        for second in Int64(0)..<3 {
            log.personActed()
            happen("button pressed", at: second)
            let isWritten = takesUrgent(at: second)
            #expect(isWritten)
        }
        #expect(log.lines == ["0 button pressed", "1 button pressed", "2 button pressed"])
    }

    @Test mutating func repetitionAfterTheWindowIsNew() {
        happen("live", at: 0)
        happen("live", at: 599)
        happen("live", at: 1199)
        #expect(log.lines == ["0 live (2 times, the last 599)", "1199 live"])
    }

    @Test mutating func eventThatIsNotUrgentWaitsForTheInterval() {
        happen("a", at: 0)
        #expect(log.takeUnwritten(isUrgent: false, now: Self.at(599)) == nil)
        #expect(log.takeUnwritten(isUrgent: false, now: Self.at(600)) == Array("0 a\n".utf8))
        happen("b", at: 700)
        #expect(log.takeUnwritten(isUrgent: false, now: Self.at(1199)) == nil)
        #expect(log.takeUnwritten(isUrgent: true, now: Self.at(1199)) == Array("0 a\n700 b\n".utf8))
        #expect(log.takeUnwritten(isUrgent: true, now: Self.at(9999)) == nil)
    }

    @Test func linesAndTheirLengthAreLimited() {
        let before = (0..<300).map { "old \($0)" } + [String(repeating: "x", count: 1000)]
        var log = EventLog(before: before, now: .zero)
        #expect(log.lines.count == EventLog.capacity && log.lines.last?.count == EventLog.longestLine)
        for number in 0..<150 { log.happened("\(number)", stamp: "s", now: .zero) }
        #expect(log.lines.count == EventLog.capacity && log.lines[50] == "s 0")
        log.happened(String(repeating: "y", count: 1000), stamp: "s", now: .zero)
        log.happened(String(repeating: "y", count: 1000), stamp: "t", now: .zero)
        #expect(
            log.lines.last?.count == EventLog.longestLine && log.lines.last?.hasSuffix("(2 times, the last t)") == true)
        for number in 0..<500 { log.happened("n\(number)", stamp: "s", now: .zero) }
        #expect(log.lines.count == EventLog.capacity && log.lines.first == "s n300")
    }
}
