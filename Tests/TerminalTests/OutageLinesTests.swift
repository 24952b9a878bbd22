import StreamLogic
import Testing

@testable import Terminal

@Suite("Lines about a server that stays away")
struct OutageLinesTests {
    private func failure(_ text: String) -> StreamEvent {
        .retry(ConnectionFailure(code: -1001, text: text), .connect)
    }

    private func attempt(_ number: Int, of limit: Int? = nil) -> StreamEvent {
        .reconnecting(attempt: number, limit: limit, delay: .milliseconds(500))
    }

    /// The readings for attempts that fail with the same text.
    private func readings(_ lines: inout OutageLines, _ text: String, attempts: ClosedRange<Int>) -> [OutageLines
        .Reading]
    {
        attempts.flatMap { [lines.take(failure(text)), lines.take(attempt($0))] }.filter { $0 != .nothing }
    }

    @Test func showsALineForTheChangeAndThenACounter() {
        var lines = OutageLines()
        #expect(readings(&lines, "refused", attempts: 1...10) == [.line, .line])
        #expect(
            readings(&lines, "refused", attempts: 11...21) == [
                .counter("still reconnecting: attempt 11"), .counter("still reconnecting: attempt 21"),
            ])
        #expect(lines.counter == "reconnecting: attempt 21")
        #expect(readings(&lines, "no route", attempts: 22...25) == [.line, .line])
    }

    @Test func counterBecomesRare() {
        var lines = OutageLines()
        #expect(readings(&lines, "refused", attempts: 1...2001).count == 2 + 8)
    }

    @Test func returningServerResetsTheCounter() {
        var lines = OutageLines()
        _ = readings(&lines, "refused", attempts: 1...3)
        #expect(lines.take(.connected(server: "10.0.0.1:1935")) == .line && lines.counter == nil)
        #expect(readings(&lines, "refused", attempts: 1...3) == [.line, .line])
    }

    @Test func limitedAttemptsAreAllShown() {
        var lines = OutageLines()
        for number in 1...3 {
            #expect(lines.take(failure("refused")) == .line && lines.take(attempt(number, of: 3)) == .line)
        }
        #expect(lines.counter == nil)
    }

    @Test func otherEventsAreNotAffected() {
        var lines = OutageLines()
        _ = readings(&lines, "refused", attempts: 1...3)
        #expect(lines.take(.muted(true)) == .line && lines.take(.stateChanged(.reconnecting)) == .line)
        #expect(readings(&lines, "refused", attempts: 4...5) == [])
    }
}
