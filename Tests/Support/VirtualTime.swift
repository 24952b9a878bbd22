import Glibc
import LinuxIO
import Media
import Synchronization

/// Time that stands still while any of its threads works, and jumps to the next deadline when all of them wait.
///
/// Threads, descriptors and locks are real; only time is not. Events from outside (a network socket, a child process, a kernel
/// timer) have no place on this clock, so tests with such things use the kernel's time.
public final class VirtualTime: ThreadTime {
    /// One of its threads, waiting in `poll`.
    private struct Waiter {
        let entries: [PollEntry]
        let deadline: MediaTimestamp?
        /// Signaled when its deadline is reached.
        let wakeup: EventFD
    }

    private struct State {
        // Any time except zero, so that subtracting a duration still gives a valid time.
        var now = MediaTimestamp(milliseconds: 3_600_000)
        /// The first thread is the test itself.
        var workingCount = 1
        var lastNumber = 0
        var waiters: [Int: Waiter] = [:]
        /// For running threads; signaled when they end.
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

    /// Gives the calling thread this time during `body`, and the threads that it starts then. Between two calls, time stands
    /// still, because the owner counts as working. One call at a time.
    public func run<Value>(_ body: () throws -> Value) rethrows -> Value { try CurrentTime.with(self, body) }

    public func now() -> MediaTimestamp { state.withLock { $0.now } }

    /// From now on, threads of this name cannot be created.
    public func refuseThreads(named name: String) { state.withLock { $0.refusedThread = name } }

    /// From now on, each wait for this descriptor fails, including a present one when it wakes up.
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
                // If the deadline was reached, the thread is already counted.
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

    /// Calls `ring` at a time: at once if that is in the past, never for `nil`.
    /// - Parameter owner: replaces its previous alarm.
    func setAlarm(_ owner: ObjectIdentifier, at time: MediaTimestamp?, ring: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.alarms[owner] = nil
            guard let time else { return }
            if time <= state.now { ring() } else { state.alarms[owner] = (time, ring) }
        }
    }

    private func stopWorking(_ state: inout State) {
        state.workingCount -= 1
        // A thread whose descriptor is ready is about to work, although it does not count as working yet.
        while state.workingCount == 0, !state.waiters.values.contains(where: isReady) {
            let times = state.waiters.values.compactMap(\.deadline) + state.alarms.values.map(\.time)
            // Without any, nothing happens until something outside acts.
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
        // PollEntry has the same layout as pollfd.
        let count = entries.withUnsafeMutableBufferPointer { entries in
            entries.withMemoryRebound(to: pollfd.self) { poll($0.baseAddress, nfds_t($0.count), waits ? -1 : 0) }
        }
        if count >= 0 { return Int(count) }
        guard errno == EINTR else { throw SystemCallError("poll") }
    }
}
