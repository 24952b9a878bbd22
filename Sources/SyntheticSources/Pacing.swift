import LinuxIO
import Media

/// Waits on the clock until a time or until a stop.
struct Pacing {
    private enum Waited {
        case stop, source
    }

    private let stop: EventFD

    /// - Parameter stop: ends every wait when signaled. It is not drained.
    init(stop: EventFD) { self.stop = stop }

    /// - Returns: false if the source should end.
    func wait(until time: MediaTimestamp) throws(SourceError) -> Bool {
        var waits: PollSet<Waited> = [.stop: stop.fileDescriptor]
        return try !Self.wait(&waits, until: time)
    }

    enum Readiness {
        case readable
        /// The deadline passed first.
        case late
        /// The source should end.
        case stopped
    }

    /// Waits until the descriptor is readable.
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

/// The times at which a steady source's items are due.
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

    /// Skips items that are more than one interval late, as a camera does when nobody takes its frames.
    mutating func skipMissed(now: MediaTimestamp) {
        while due + rate.frameDuration < now { index += 1 }
    }
}

/// The times at which a pipe's items are delivered. They are not delivered earlier than their rate allows, because a writer may
/// be faster than real time. Late items are delivered at once.
///
/// A camera or sound card behind the pipe may run slightly faster than this machine's clock. To keep its items from piling up,
/// the schedule runs 0.2 % fast while the reader has recently had to wait for the writer.
struct PipeSchedule {
    /// A longer pause of the writer restarts the schedule, without catching up.
    static let largestDelay = Duration.milliseconds(200)
    /// Data that was already in the pipe is read in less time than this.
    static let leastWait = Duration.milliseconds(1)
    /// For this long after a wait, the writer counts as paced by its own clock.
    static let clockedTime = Duration.seconds(5)

    /// `false` delivers every item when it arrives.
    private let isPaced: Bool
    private var due: MediaTimestamp?
    private var lastWait: MediaTimestamp?

    init(isPaced: Bool) { self.isPaced = isPaced }

    /// - Parameters:
    ///   - arrival: when the item's first byte arrived.
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
