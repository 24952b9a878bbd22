import BoardIO
import LinuxIO
import Media
import Synchronization

@testable import ApplianceRuntime
@testable import BoardRuntime

/// A chip behind a bus that hangs on request.
final class Bus: Sendable {
    private let isFree = Mutex(true)
    let calls = Atomic<Int>(0)

    func hang() { isFree.withLock { $0 = false } }
    func goOn() { isFree.withLock { $0 = true } }

    /// Like a driver, it does not return while the bus hangs.
    func transfer() {
        calls.add(1, ordering: .relaxed)
        while !isFree.withLock({ $0 }) { MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(2)) }
    }
}

/// Records what it was set to, and answers what the test wants.
final class FakeLine: LineDevice, Sendable {
    private let bus: Bus
    private let light = Mutex<[Bool]>([])
    private let edges = Mutex<[GPIOButton.Edge]>([])
    private let hasEdges: EventFD?

    init(on bus: Bus, hasEdges: EventFD? = nil) {
        self.bus = bus
        self.hasEdges = hasEdges
    }

    var states: [Bool] { light.withLock { $0 } }
    var wasPressedAtFirst: Bool { false }
    var fileDescriptor: Int32 { hasEdges?.fileDescriptor ?? -1 }

    var isThere: Bool {
        bus.transfer()
        return true
    }

    func set(isLit: Bool) throws(BoardIOError) {
        bus.transfer()
        light.withLock { $0.append(isLit) }
    }

    func move(isPressed: Bool, at time: MediaTimestamp) {
        edges.withLock { $0.append(GPIOButton.Edge(isPressed: isPressed, time: time)) }
        hasEdges?.signal()
    }

    func takeEdges() throws(BoardIOError) -> [GPIOButton.Edge] {
        hasEdges?.drain()
        return edges.withLock { edges in
            defer { edges = [] }
            return edges
        }
    }
}
