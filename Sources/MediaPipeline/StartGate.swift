import LinuxIO
import Media
import Synchronization

/// Holds the tracks' threads until the server has accepted the stream.
final class StartGate: Sendable {
    private let isOpen: EventFD
    private let stop: EventFD
    private let times = Mutex<(start: MediaTimestamp?, end: MediaTimestamp?)>((nil, nil))

    init(stop: EventFD) throws(SystemCallError) {
        isOpen = try EventFD()
        self.stop = stop
    }

    /// The stream's time zero, known once the gate is open. Earlier media is not part of the stream.
    var start: MediaTimestamp? { times.withLock { $0.start } }

    /// When media ends, if a limit was given; known once the gate is open.
    var end: MediaTimestamp? { times.withLock { $0.end } }

    func open(from start: MediaTimestamp, until end: MediaTimestamp?) {
        times.withLock { $0 = (start, end) }
        isOpen.signal()
    }

    private enum Waited {
        case opening, stop
    }

    private var waits: PollSet<Waited> { [.opening: isOpen.fileDescriptor, .stop: stop.fileDescriptor] }

    /// - Parameter duration: how long to wait at most.
    /// - Returns: whether the wait is over, because the server accepted the stream or it was stopped.
    func isPassed(within duration: Duration) -> Bool {
        var waits = waits
        return (try? waits.wait(until: MonotonicClock.now() + duration)) ?? true
    }

    /// - Returns: false if the stream was stopped instead.
    func waitForStart() -> Bool {
        var waits = waits
        guard (try? waits.wait()) != nil else { return false }
        return !waits.isReady(.stop)
    }
}
