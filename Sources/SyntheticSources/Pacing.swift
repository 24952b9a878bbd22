import LinuxIO
import Media

/// Waits on the clock until it is time or somebody says stop.
struct Pacing {
    private let stop: EventFD

    /// - Parameter stop: once signalled, every wait ends at once. It is not drained.
    init(stop: EventFD) { self.stop = stop }

    /// - Returns: false when the source shall end.
    func wait(until time: MediaTimestamp) throws(SourceError) -> Bool {
        var entries = [PollEntry(stop.fileDescriptor)]
        return try Self.poll(&entries, until: time) == 0
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
        var entries = [PollEntry(stop.fileDescriptor), PollEntry(fileDescriptor)]
        let count = try Self.poll(&entries, until: time)
        guard entries[0].ready.isEmpty else { return .stopped }
        return count == 0 ? .late : .readable
    }

    private static func poll(_ entries: inout [PollEntry], until time: MediaTimestamp?) throws(SourceError) -> Int {
        do throws(SystemCallError) {
            return try LinuxIO.poll(&entries, until: time)
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
