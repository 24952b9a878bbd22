import Glibc
import Media
import Synchronization
import Testing

@testable import LinuxIO

/// What is open of a node, and what is closed again.
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

    private func isSignalled(_ event: EventFD, within timeout: Duration = .seconds(60)) throws -> Bool {
        var entries = [PollEntry(event.fileDescriptor)]
        return try poll(&entries, until: MonotonicClock.now() + timeout) > 0
    }

    @Test func whatACallReturnsIsItsCallersOwn() throws {
        let closed = try EventFD()
        var node: OpenNode? = try NodeOccupancy.call(of: path, timeout: .seconds(60)) { OpenNode(closed) }
        #expect(node != nil)
        #expect(try !isSignalled(closed, within: .zero), "open as long as its caller keeps it")
        node = nil
        #expect(try isSignalled(closed))
    }

    @Test func aCallThatHangsCostsItsTimeoutAndLaterOnesNothing() throws {
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
        // The driver is let go of while the next one waits: what came too late is closed, and the node is free again.
        release.signal()
        let answer = try NodeOccupancy.call(of: path, timeout: .seconds(60)) { 7 }
        #expect(answer == 7)
        #expect(try isSignalled(closed))
    }

    @Test func anotherNodeIsAskedMeanwhile() throws {
        let release = try EventFD()
        #expect(throws: NodeOccupancyError.self) {
            try NodeOccupancy.call(of: path, timeout: .milliseconds(50)) {
                waitForEver(release)
            }
        }
        #expect(try NodeOccupancy.call(of: "\(path)-other", timeout: .seconds(60)) { 1 } == 1)
        release.signal()
    }

    /// The system's threads or descriptors have run out; a moment later there are some again.
    @Test func aCallThatCannotStartLeavesTheNodeFree() throws {
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

    /// Nobody knows how far the thread is: the node stays occupied until it has left the driver, and no longer.
    @Test func aCallThatCannotBeWaitedForKeepsTheNodeUntilItReturns() throws {
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
        #expect(try !isSignalled(closed, within: .milliseconds(50)), "the driver still has it")
        // The next call waits for it, and comes after the release.
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
        #expect(try isSignalled(closed))
    }
}
