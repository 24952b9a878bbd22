import Glibc
import LinuxIO
import Media
import Synchronization
import Testing

@Suite struct ThreadActivityTests {
    private static func isWorking(_ name: String) -> Bool {
        ThreadActivity.working().contains { $0.name == name }
    }

    /// - Returns: whether the condition became true within a minute.
    private static func comes(_ condition: () -> Bool) -> Bool {
        let limit = MonotonicClock.now() + .seconds(60)
        while !condition() {
            guard MonotonicClock.now() < limit else { return false }
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5))
        }
        return true
    }

    @Test func threadInPollIsWaiting() throws {
        let wakeup = try EventFD()
        let turns = Atomic(0)
        let thread = try NamedThread("waits") {
            for _ in 0..<3 {
                var entries = [PollEntry(wakeup.fileDescriptor)]
                _ = try? poll(&entries, until: nil)
                wakeup.drain()
                turns.add(1, ordering: .relaxed)
            }
        }
        for turn in 0..<3 {
            #expect(Self.comes { turns.load(ordering: .relaxed) == turn && !Self.isWorking("waits") })
            wakeup.signal()
        }
        thread.join()
        #expect(!Self.isWorking("waits"))
    }

    /// As when a driver or another thread's lock does not let a thread go.
    @Test func threadInABlockingCallCountsAsWorkingSinceItsLastWait() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (input, output) = (ends[0], ends[1])
        let before = MonotonicClock.now()
        let thread = try NamedThread("blocks") {
            var none: [PollEntry] = []
            _ = try? poll(&none, until: MonotonicClock.now() + .milliseconds(50))
            var byte: UInt8 = 0
            _ = read(input, &byte, 1)
        }
        #expect(
            Self.comes {
                ThreadActivity.working().contains { $0.name == "blocks" && $0.since > before + .milliseconds(49) }
            })
        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(100))
        let found = try #require(ThreadActivity.working().first { $0.name == "blocks" })
        #expect(MonotonicClock.now() - found.since >= .milliseconds(100))
        close(output)
        thread.join()
        #expect(!Self.isWorking("blocks"))
        close(input)
    }

    @Test func threadReadingFromASlowDiskIsWaiting() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (input, output) = (ends[0], ends[1])
        let hasStarted = Atomic(false)
        let thread = try NamedThread("reads") {
            hasStarted.store(true, ordering: .relaxed)
            var byte: UInt8 = 0
            ThreadActivity.wait { _ = read(input, &byte, 1) }
        }
        #expect(Self.comes { hasStarted.load(ordering: .relaxed) && !Self.isWorking("reads") })
        close(output)
        thread.join()
        close(input)
    }

    /// The end of a stream waits for its tracks' threads, one of which may be reading a movie from a slow disk.
    @Test func threadJoiningAnotherIsWaiting() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (input, output) = (ends[0], ends[1])
        let hasStarted = Atomic(false)
        let reads = JoinableThread(
            try NamedThread("reads-on") {
                hasStarted.store(true, ordering: .relaxed)
                var byte: UInt8 = 0
                ThreadActivity.wait { _ = read(input, &byte, 1) }
            })
        #expect(Self.comes { hasStarted.load(ordering: .relaxed) && !Self.isWorking("reads-on") })
        let before = Atomic(false)
        let joins = try NamedThread("joins") {
            before.store(true, ordering: .relaxed)
            reads.join()
        }
        #expect(Self.comes { before.load(ordering: .relaxed) && !Self.isWorking("joins") })
        close(output)
        joins.join()
        close(input)
    }

    @Test func threadThatMayBlockIsNotWatched() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (input, output) = (ends[0], ends[1])
        let hasStarted = Atomic(false)
        let thread = try NamedThread("looks-up", mayBlock: true) {
            hasStarted.store(true, ordering: .relaxed)
            var byte: UInt8 = 0
            _ = read(input, &byte, 1)
        }
        #expect(Self.comes { hasStarted.load(ordering: .relaxed) })
        #expect(!Self.isWorking("looks-up"))
        close(output)
        thread.join()
        close(input)
    }
}
