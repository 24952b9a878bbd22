import LinuxIO
import Media
import RecordingLogic

/// Records streams on a disk, one after the other. Add `sink` to each stream's hub, and call `start`.
///
/// Its thread `recording` may hang as long as the disk does; no call here waits for it, except `end`, for a limited time.
/// Reports come on this thread, on encoders' threads, and on that of `check`.
public final class Recorder: Sendable {
    public let sink: RecordingSink
    private let orders: Mailbox<RecorderWork.Order>
    private let watch: DiskCallWatch
    private let ended: EventFD

    /// The thread's tools.
    struct Parts: Sendable {
        let hasVideo: Bool
        let sink: RecordingSink
        let disk: any RecordingDisk
        let watch: DiskCallWatch
        let clock: RecordingClock
        let report: @Sendable (RecordingEvent) -> Void
    }

    private enum Waited {
        case packets, orders
    }

    /// - Parameters:
    ///   - bufferByteCount: bytes that wait for a slow disk, at most.
    ///   - hasVideo: whether files start at keyframes.
    ///   - report: receives events on any thread.
    public init(
        bufferByteCount: Int = 16 << 20, hasVideo: Bool = true, disk: any RecordingDisk = LinuxRecordingDisk(),
        clock: RecordingClock = .kernel(), report: @escaping @Sendable (RecordingEvent) -> Void
    ) throws(SystemCallError) {
        orders = try Mailbox()
        sink = try RecordingSink(limit: bufferByteCount, hasVideo: hasVideo, orders: orders, report: report)
        ended = try EventFD()
        watch = DiskCallWatch(report: report)
        let parts = Parts(
            hasVideo: hasVideo, sink: sink, disk: disk, watch: watch, clock: clock, report: report)
        try Self.startThread(parts, orders, ended)
    }

    deinit { orders.send(.end) }

    private static func startThread(
        _ parts: Parts, _ orders: Mailbox<RecorderWork.Order>, _ ended: EventFD
    ) throws(SystemCallError) {
        // Never joined. A hanging disk must not trigger the hardware watchdog.
        _ = try NamedThread("recording", mayBlock: true) {
            NamedThread.lowerPriority()
            var work = RecorderWork(parts)
            while !work.isOver {
                var waits: PollSet<Waited> = [
                    .packets: parts.sink.wakeup.fileDescriptor, .orders: orders.wakeup.fileDescriptor,
                ]
                waits.wake(at: work.nextTime)
                guard (try? waits.wait()) != nil else { break }
                for order in orders.takeAll() { work.perform(order) }
                work.timePassed()
                work.writeWaiting()
            }
            ended.signal()
        }
    }

    /// Records from the next keyframe on. A recorder that is recording already goes on, in a new file if the plan is another.
    public func start(_ plan: RecordingPlan) {
        orders.send(.start(plan))
        // A keyframe may come before the thread does. The thread closes the sink again if it cannot record.
        sink.open()
    }

    /// Finishes the present file.
    public func stop() { orders.send(.stop) }

    /// A disk has appeared or changed: try again now, or move to it.
    public func diskChanged() { orders.send(.diskChanged) }

    /// Notes a moment in the journal.
    public func mark(_ text: String) { orders.send(.mark(text, MonotonicClock.now())) }

    /// Unmounts the disk that recordings are on, or else the first one, and goes on recording elsewhere. The event `ejected`
    /// tells the result.
    /// - Parameter media: the folder that disks are mounted in.
    public func eject(from media: String) { orders.send(.eject(media: media)) }

    /// Call it every second: reports a disk that has not answered for 5 s.
    public func check(now: MediaTimestamp) { watch.check(now: now) }

    /// The call that the disk does not answer.
    public func stalledCall(now: MediaTimestamp) -> DiskCall? { watch.stalledCall(now: now) }

    /// Finishes the file and ends the thread.
    /// - Returns: false if the disk has not answered in time. The file is repaired at the next start.
    public func end(within patience: Duration) -> Bool {
        orders.send(.end)
        return ended.isSignaled(until: MonotonicClock.now() + patience)
    }
}
