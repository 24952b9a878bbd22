import LinuxIO
import Media

/// Waits on the clock until it is time or somebody says stop.
struct Pacing {
    private enum Waited {
        case stop, source
    }

    private let stop: EventFD

    /// - Parameter stop: once signalled, every wait ends at once. It is not drained.
    init(stop: EventFD) { self.stop = stop }

    /// - Returns: false when the source shall end.
    func wait(until time: MediaTimestamp) throws(SourceError) -> Bool {
        var waits: PollSet<Waited> = [.stop: stop.fileDescriptor]
        return try !Self.wait(&waits, until: time)
    }

    enum Readiness {
        case readable
        /// The time came first.
        case late
        /// The source shall end.
        case stopped
    }

    /// Waits until the descriptor can be read.
    func waitUntilReadable(_ fileDescriptor: Int32, until time: MediaTimestamp?) throws(SourceError) -> Readiness {
        var waits: PollSet<Waited> = [.stop: stop.fileDescriptor, .source: fileDescriptor]
        let isReady = try Self.wait(&waits, until: time)
        guard !waits.isReady(.stop) else { return .stopped }
        return isReady ? .readable : .late
    }

    private static func wait(
        _ waits: inout PollSet<Waited>, until time: MediaTimestamp?
    ) throws(SourceError) -> Bool {
        do throws(SystemCallError) {
            return try waits.wait(until: time)
        } catch {
            throw .systemFailed(error)
        }
    }
}

/// The times at which the items of a steady source are due.
struct Schedule {
    let start: MediaTimestamp
    let rate: FrameRate
    private(set) var index = 0

    init(start: MediaTimestamp, rate: FrameRate) {
        self.start = start
        self.rate = rate
    }

    var due: MediaTimestamp { start + rate.offset(ofFrame: index) }

    mutating func advance() { index += 1 }

    /// Leaves out what is late by more than a whole item, as a camera does when nobody takes its frames.
    mutating func skipMissed(now: MediaTimestamp) {
        while due + rate.frameDuration < now { index += 1 }
    }
}

/// The times at which a pipe's items are given: no sooner than their rate says, since a writer may be faster than real
/// time, and at once when they come late.
///
/// A camera or sound card behind the pipe may run a little faster than this machine's clock. Its items must not pile up, so
/// the schedule runs 0.2 % ahead of the rate while the reader has recently had to wait for the writer.
struct PipeSchedule {
    /// A writer that pauses for longer starts the schedule again; what it missed is not caught up with.
    static let largestDelay = Duration.milliseconds(200)
    /// Bytes that are in the pipe already are read sooner.
    static let leastWait = Duration.milliseconds(1)
    /// For so long after a wait the writer counts as one with a clock of its own.
    static let clockedTime = Duration.seconds(5)

    /// `false` gives every item when it arrives.
    private let isPaced: Bool
    private var due: MediaTimestamp?
    private var lastWait: MediaTimestamp?

    init(isPaced: Bool) { self.isPaced = isPaced }

    /// - Parameters:
    ///   - arrival: when the item's first byte was there.
    ///   - duration: of the item.
    ///   - readTime: when the reader asked for the item.
    /// - Returns: when the item is due.
    mutating func time(
        ofArrival arrival: MediaTimestamp, lasting duration: Duration, readSince readTime: MediaTimestamp
    ) -> MediaTimestamp {
        if due != nil, arrival > readTime + Self.leastWait { lastWait = arrival }
        guard isPaced, let due, arrival <= due + Self.largestDelay else {
            due = arrival + duration
            return arrival
        }
        let time = max(arrival, due)
        let isClocked = lastWait.map { time - $0 < Self.clockedTime } ?? false
        self.due = due + (isClocked ? duration * 499 / 500 : duration)
        return time
    }
}
