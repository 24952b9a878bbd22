import Glibc
import Media
import Synchronization
import Testing

@testable import LinuxIO

/// An open node that signals when it is closed.
private final class OpenNode {
    private let closed: EventFD

    init(_ closed: EventFD) { self.closed = closed }
    deinit { closed.signal() }
}

private func waitForEver(_ release: EventFD) {
    var entries = [PollEntry(release.fileDescriptor)]
    _ = try? poll(&entries, until: MonotonicClock.now() + .seconds(300))
}

@Suite struct NodeOccupancyTests {
    private let path = "/dev/of-this-test-\(Int.random(in: 0 ..< .max))"

    private func isSignaled(_ event: EventFD, within timeout: Duration = .seconds(60)) throws -> Bool {
        var entries = [PollEntry(event.fileDescriptor)]
        return try poll(&entries, until: MonotonicClock.now() + timeout) > 0
    }

    @Test func resultOfACallBelongsToItsCaller() throws {
        let closed = try EventFD()
        var node: OpenNode? = try NodeOccupancy.call(of: path, timeout: .seconds(60)) { OpenNode(closed) }
        #expect(node != nil)
        #expect(try !isSignaled(closed, within: .zero), "open as long as its caller keeps it")
        node = nil
        #expect(try isSignaled(closed))
    }

    @Test func hangingCallCostsItsTimeoutOnceAndLaterCallsFailFast() throws {
        let release = try EventFD()
        let closed = try EventFD()
        let start = MonotonicClock.now()
        #expect(throws: NodeOccupancyError.blocked(path: path, .milliseconds(100))) {
            try NodeOccupancy.call(of: path, timeout: .milliseconds(100)) {
                waitForEver(release)
                return OpenNode(closed)
            }
        }
        #expect(MonotonicClock.now() - start < .seconds(60))
        // The driver returns while the next call waits: the late result is closed, and the node is free again.
        release.signal()
        let answer = try NodeOccupancy.call(of: path, timeout: .seconds(60)) { 7 }
        #expect(answer == 7)
        #expect(try isSignaled(closed))
    }

    @Test func hangingNodeDoesNotBlockAnotherNode() throws {
        let release = try EventFD()
        #expect(throws: NodeOccupancyError.self) {
            try NodeOccupancy.call(of: path, timeout: .milliseconds(50)) {
                waitForEver(release)
            }
        }
        #expect(try NodeOccupancy.call(of: "\(path)-other", timeout: .seconds(60)) { 1 } == 1)
        release.signal()
    }

    /// The system has briefly run out of threads or descriptors.
    @Test func callThatCannotStartLeavesTheNodeFree() throws {
        let none = SystemCallError("pthread_create", number: EAGAIN)
        var thread = NodeOccupancy.CallThread()
        thread.start = { _ throws(SystemCallError) in throw none }
        let isAsked = Atomic(false)
        #expect(throws: NodeOccupancyError.failed(path: path, none)) {
            try NodeOccupancy.call(of: path, timeout: .seconds(60), on: thread) {
                isAsked.store(true, ordering: .releasing)
            }
        }
        let wasAsked = isAsked.load(ordering: .acquiring)
        #expect(!wasAsked)
        let start = MonotonicClock.now()
        #expect(try NodeOccupancy.call(of: path, timeout: .seconds(60)) { 7 } == 7)
        #expect(MonotonicClock.now() - start < .seconds(30), "nothing is waited for")
    }

    /// How far the thread got is unknown, so the node stays occupied until it has left the driver.
    @Test func callThatCannotBeAwaitedOccupiesTheNodeUntilItReturns() throws {
        let broken = SystemCallError("ppoll", number: ENOMEM)
        var thread = NodeOccupancy.CallThread()
        thread.wait = { _, _ throws(SystemCallError) in throw broken }
        let (release, closed) = (try EventFD(), try EventFD())
        #expect(throws: NodeOccupancyError.failed(path: path, broken)) {
            try NodeOccupancy.call(of: path, timeout: .seconds(60), on: thread) {
                waitForEver(release)
                return OpenNode(closed)
            }
        }
        #expect(try !isSignaled(closed, within: .milliseconds(50)), "the driver still has it")
        // The next call waits until the driver is released.
        let isReleased = Atomic(false)
        let helper = try NamedThread("release") {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(200))
            isReleased.store(true, ordering: .releasing)
            release.signal()
        }
        let wasReleased = try NodeOccupancy.call(of: path, timeout: .seconds(60)) {
            isReleased.load(ordering: .acquiring)
        }
        helper.join()
        #expect(wasReleased)
        #expect(try isSignaled(closed))
    }
}
