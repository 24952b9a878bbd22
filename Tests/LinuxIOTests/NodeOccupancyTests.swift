import Media
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
    _ = try? poll(&entries, until: MonotonicClock.now() + .seconds(60))
}

@Suite struct NodeOccupancyTests {
    private let path = "/dev/of-this-test-\(Int.random(in: 0 ..< .max))"

    private func isSignalled(_ event: EventFD, within timeout: Duration = .seconds(5)) throws -> Bool {
        var entries = [PollEntry(event.fileDescriptor)]
        return try poll(&entries, until: MonotonicClock.now() + timeout) > 0
    }

    @Test func whatACallReturnsIsItsCallersOwn() throws {
        let closed = try EventFD()
        var node: OpenNode? = try NodeOccupancy.call(of: path, timeout: .seconds(5)) { OpenNode(closed) }
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
        #expect(MonotonicClock.now() - start < .seconds(3))
        // The driver is let go of while the next one waits: what came too late is closed, and the node is free again.
        release.signal()
        let answer = try NodeOccupancy.call(of: path, timeout: .seconds(5)) { 7 }
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
        #expect(try NodeOccupancy.call(of: "\(path)-other", timeout: .seconds(5)) { 1 } == 1)
        release.signal()
    }
}
