import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

/// Threads that run in virtual time.
@Suite struct ThreadTimeTests {
    private let time = VirtualTime()

    private func sleep(_ duration: Duration) { MonotonicClock.sleep(until: MonotonicClock.now() + duration) }

    @Test func sleepTakesOnlyVirtualTime() {
        let start = MonotonicClock.now()
        time.run {
            let start = MonotonicClock.now()
            sleep(.seconds(3600))
            #expect(MonotonicClock.now() - start == .seconds(3600))
        }
        #expect(MonotonicClock.now() - start < .seconds(60))
    }

    @Test func threadsInheritVirtualTimeAndTakeTurnsByTheClock() throws {
        try time.run {
            let order = try Mailbox<String>()
            let start = MonotonicClock.now()
            func ticker(_ name: String, every period: Duration) throws -> JoinableThread {
                JoinableThread(
                    try NamedThread("ticker") {
                        for number in 1...3 {
                            MonotonicClock.sleep(until: start + period * number)
                            order.send("\(name)\((MonotonicClock.now() - start).components.seconds)")
                        }
                    })
            }
            let threads = [try ticker("a", every: .seconds(4)), try ticker("b", every: .seconds(5))]
            for thread in threads { thread.join() }
            #expect(order.takeAll() == ["a4", "b5", "a8", "b10", "a12", "b15"])
            #expect(MonotonicClock.now() - start == .seconds(15))
        }
    }

    @Test func readyDescriptorsComeBeforeDeadlines() throws {
        try time.run {
            let (request, answer) = (try EventFD(), try EventFD())
            let thread = JoinableThread(
                try NamedThread("answer") {
                    for _ in 0..<1000 {
                        var entries = [PollEntry(request.fileDescriptor)]
                        _ = try? poll(&entries, until: nil)
                        request.drain()
                        answer.signal()
                    }
                })
            let start = MonotonicClock.now()
            for _ in 0..<1000 {
                request.signal()
                var entries = [PollEntry(answer.fileDescriptor)]
                #expect(try poll(&entries, until: start + .milliseconds(1)) == 1)
                answer.drain()
            }
            thread.join()
            #expect(MonotonicClock.now() == start)
        }
    }

    @Test func virtualTimeStandsStillWhileAThreadWorks() throws {
        try time.run {
            let isOver = Atomic(false)
            let start = MonotonicClock.now()
            let thread = JoinableThread(
                try NamedThread("sleeper") {
                    MonotonicClock.sleep(until: start + .seconds(1))
                    isOver.store(true, ordering: .releasing)
                })
            var wasOver = false
            for _ in 0..<1_000_000 where isOver.load(ordering: .acquiring) { wasOver = true }
            #expect(!wasOver)
            #expect(MonotonicClock.now() == start)
            thread.join()
            wasOver = isOver.load(ordering: .acquiring)
            #expect(wasOver && MonotonicClock.now() == start + .seconds(1))
        }
    }

    @Test func kernelTimeAppliesOutside() throws {
        time.run { #expect(CurrentTime.replacement != nil) }
        #expect(CurrentTime.replacement == nil)
        let times = try Mailbox<Bool>()
        let thread = JoinableThread(
            try NamedThread("outside") { times.send(CurrentTime.replacement == nil) })
        thread.join()
        #expect(times.takeAll() == [true])
    }
}
