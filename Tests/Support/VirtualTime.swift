import Glibc
import LinuxIO
import Media
import Synchronization

/// Time that stands still while any of its threads works, and jumps to the next deadline when all of them wait.
///
/// The threads are real, and so are their descriptors and locks; only time is not. What comes from outside (a socket of the
/// machine's network, a child process, a kernel's timer) comes at no time of this clock: tests with such things have the
/// kernel's.
public final class VirtualTime: ThreadTime {
    /// One of its threads, in `poll`.
    private struct Waiter {
        let entries: [PollEntry]
        let deadline: MediaTimestamp?
        /// Signalled when its deadline has come.
        let wakeup: EventFD
    }

    private struct State {
        // Any time will do, but zero: sums of it and a span before it are to be times as well.
        var now = MediaTimestamp(milliseconds: 3_600_000)
        /// The test itself is the first.
        var workingCount = 1
        var lastNumber = 0
        var waiters: [Int: Waiter] = [:]
        /// Of threads that run, signalled at their end.
        var endings: [Int: EventFD] = [:]
        var alarms: [ObjectIdentifier: (time: MediaTimestamp, ring: @Sendable () -> Void)] = [:]
        var refusedThread: String?
        var brokenDescriptor: Int32?

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    public init() {}

    /// The calling thread has this time during `body`, and so have the threads that it starts then. Between two calls time
    /// stands still: whoever made it counts as working. One call at a time.
    public func run<Value>(_ body: () throws -> Value) rethrows -> Value { try CurrentTime.with(self, body) }

    public func now() -> MediaTimestamp { state.withLock { $0.now } }

    /// No thread of this name can be created from now on.
    public func refuseThreads(named name: String) { state.withLock { $0.refusedThread = name } }

    /// Each wait for this descriptor fails from now on, also one that is under way and wakes up.
    public func failWaits(for fileDescriptor: Int32) { state.withLock { $0.brokenDescriptor = fileDescriptor } }

    public func poll(_ entries: inout [PollEntry], until deadline: MediaTimestamp?) throws(SystemCallError) -> Int {
        while true {
            let broken = state.withLock { $0.brokenDescriptor }
            guard !entries.contains(where: { $0.fileDescriptor == broken }) else {
                throw SystemCallError("ppoll", number: ENOMEM)
            }
            let count = try kernelPoll(&entries, waits: false)
            if count > 0 { return count }
            if let deadline, now() >= deadline { return 0 }
            let waiter = Waiter(entries: entries, deadline: deadline, wakeup: try EventFD())
            let number = state.withLock { state in
                let number = state.nextNumber()
                state.waiters[number] = waiter
                stopWorking(&state)
                return number
            }
            var all = entries + [PollEntry(waiter.wakeup.fileDescriptor)]
            try kernelPoll(&all, waits: true)
            state.withLock { state in
                // Who reached its deadline for it has counted it already.
                if state.waiters.removeValue(forKey: number) != nil { state.workingCount += 1 }
            }
        }
    }

    public func threadStarts(_ name: String) throws(SystemCallError) -> Int {
        try state.withLock { state throws(SystemCallError) in
            guard name != state.refusedThread else {
                throw SystemCallError("pthread_create", number: EAGAIN, subject: "thread \(name)")
            }
            state.workingCount += 1
            let number = state.nextNumber()
            state.endings[number] = try? EventFD()
            return number
        }
    }

    public func threadEnded(_ number: Int) {
        state.withLock { state in
            state.endings.removeValue(forKey: number)?.signal()
            stopWorking(&state)
        }
    }

    public func waitForEnd(of number: Int) {
        guard let ending = state.withLock({ $0.endings[number] }) else { return }
        var entries = [PollEntry(ending.fileDescriptor)]
        _ = try? LinuxIO.poll(&entries, until: nil)
    }

    /// Calls `ring` at a time, at once when that is past; never with `nil`.
    /// - Parameter owner: replaces the alarm that it has set before.
    func setAlarm(_ owner: ObjectIdentifier, at time: MediaTimestamp?, ring: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.alarms[owner] = nil
            guard let time else { return }
            if time <= state.now { ring() } else { state.alarms[owner] = (time, ring) }
        }
    }

    private func stopWorking(_ state: inout State) {
        state.workingCount -= 1
        // A thread whose descriptor is ready is about to work, although it has not said so yet.
        while state.workingCount == 0, !state.waiters.values.contains(where: isReady) {
            let times = state.waiters.values.compactMap(\.deadline) + state.alarms.values.map(\.time)
            // Without any, nothing happens until somebody outside does something.
            guard let next = times.min() else { return }
            reach(max(state.now, next), &state)
        }
    }

    private func reach(_ time: MediaTimestamp, _ state: inout State) {
        state.now = time
        for (owner, alarm) in state.alarms where alarm.time <= time {
            state.alarms[owner] = nil
            alarm.ring()
        }
        for (number, waiter) in state.waiters where waiter.deadline.map({ $0 <= time }) ?? false {
            state.waiters[number] = nil
            state.workingCount += 1
            waiter.wakeup.signal()
        }
    }

    private func isReady(_ waiter: Waiter) -> Bool {
        var entries = waiter.entries
        return ((try? kernelPoll(&entries, waits: false)) ?? 1) > 0
    }
}

@discardableResult
private func kernelPoll(_ entries: inout [PollEntry], waits: Bool) throws(SystemCallError) -> Int {
    while true {
        // PollEntry is a pollfd and nothing else.
        let count = entries.withUnsafeMutableBufferPointer { entries in
            entries.withMemoryRebound(to: pollfd.self) { poll($0.baseAddress, nfds_t($0.count), waits ? -1 : 0) }
        }
        if count >= 0 { return Int(count) }
        guard errno == EINTR else { throw SystemCallError("poll") }
    }
}
