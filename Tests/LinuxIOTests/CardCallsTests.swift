import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

/// Threads hand work to the card's thread and wait only as long as they choose.
@Suite struct CardCallsTests {
    private let time = VirtualTime()

    /// What the card's thread has done.
    private final class Record: Sendable {
        private let names = Mutex<[String]>([])

        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    @Test func callerGetsTheResultImmediately() throws {
        try time.run {
            let card = try ScriptedCard()
            let start = MonotonicClock.now()
            #expect(try card.calls.call(within: .seconds(10)) { 4711 } == 4711)
            #expect(MonotonicClock.now() == start)
        }
    }

    @Test func hangingCardDelaysTheCallerOnlyForItsPatience() throws {
        try time.run {
            let card = try ScriptedCard(isHanging: true)
            let start = MonotonicClock.now()
            #expect(throws: CardCallError.unanswered(after: .seconds(10))) {
                try card.calls.call(within: .seconds(10)) { 1 }
            }
            #expect(MonotonicClock.now() - start == .seconds(10))
        }
    }

    @Test func workThatNeverReturnsDoesNotBlockOtherCallers() throws {
        try time.run {
            let card = try ScriptedCard()
            let never = try EventFD()
            for seconds in [3, 5] {
                let start = MonotonicClock.now()
                #expect(throws: CardCallError.unanswered(after: .seconds(seconds))) {
                    try card.calls.call(within: .seconds(seconds)) {
                        var entries = [PollEntry(never.fileDescriptor)]
                        _ = try? poll(&entries, until: nil)
                    }
                }
                #expect(MonotonicClock.now() - start == .seconds(seconds))
            }
            never.signal()
            #expect(try card.calls.call(within: .seconds(10)) { true })
        }
    }

    @Test func canceledCallerStopsWaiting() throws {
        try time.run {
            let card = try ScriptedCard(isHanging: true)
            let (end, start) = (try EventFD(), MonotonicClock.now())
            let thread = JoinableThread(
                try NamedThread("person") {
                    MonotonicClock.sleep(until: start + .seconds(1))
                    end.signal()
                })
            #expect(throws: CardCallError.canceled) {
                try card.calls.call(within: .seconds(10), cancellation: end.fileDescriptor) { 1 }
            }
            #expect(MonotonicClock.now() - start == .seconds(1))
            thread.join()
        }
    }

    /// A stream that keeps retrying must not leave a backlog for the card to work off later.
    @Test func abandonedWorkIsNotStarted() throws {
        try time.run {
            let (card, record) = (try ScriptedCard(isHanging: true), Record())
            for _ in 0..<3 { _ = try? card.calls.call(within: .seconds(1)) { record.add("given up") } }
            card.hang(false)
            try card.calls.call(within: .seconds(10)) { record.add("waited for") }
            #expect(record.all == ["waited for"])
        }
    }

    @Test func withoutACardThreadTheCallerDoesTheWork() throws {
        try time.run {
            let never = try EventFD()
            let start = MonotonicClock.now()
            let end = try CardCalls.onCallingThread.call(within: .seconds(1)) {
                var entries = [PollEntry(never.fileDescriptor)]
                _ = try? poll(&entries, until: start + .seconds(60))
                return MonotonicClock.now()
            }
            #expect(end - start == .seconds(60))
        }
    }
}
