import LinuxIO
import Media

/// The thread that has a camera or microphone open without a stream; one at a time. Used from the main thread.
final class IdleThread<Request: Sendable> {
    private struct Running {
        let number: Int
        let request: Request
        let stop: EventFD
        /// Set once it should end: how long to wait for that.
        var deadline: MediaTimestamp?
    }

    /// A camera may take this long to open, which cannot be interrupted.
    static var closingTimeout: Duration { .seconds(10) }

    private let name: String
    private let run: @Sendable (Request, EventFD) -> Void
    private let ended: @Sendable (Int) -> Void
    private var running: Running?
    private var lastNumber = 0
    /// Threads that did not end in time. A new one would wait for the same driver.
    private var hanging: Set<Int> = []

    /// - Parameters:
    ///   - run: runs on the thread until the descriptor is signaled.
    ///   - ended: the thread's last call, with its number.
    init(
        _ name: String, run: @escaping @Sendable (Request, EventFD) -> Void, ended: @escaping @Sendable (Int) -> Void
    ) {
        self.name = name
        self.run = run
        self.ended = ended
    }

    /// `nil` if there is none.
    var request: Request? { running?.request }
    /// When to give up on a thread that should end.
    var nextDeadline: MediaTimestamp? { running?.deadline }

    func start(_ request: Request) throws(SystemCallError) {
        guard running == nil, hanging.isEmpty else { return }
        lastNumber += 1
        let (number, run, ended, stop) = (lastNumber, run, ended, try EventFD())
        // If the driver hangs, this thread is left behind.
        _ = try NamedThread(name, mayBlock: true) {
            run(request, stop)
            ended(number)
        }
        running = Running(number: number, request: request, stop: stop)
    }

    /// Asks the thread to close the device.
    func stop(now: MediaTimestamp) {
        guard running != nil, running?.deadline == nil else { return }
        running?.stop.signal()
        running?.deadline = now + Self.closingTimeout
    }

    /// Reports that a thread has ended.
    /// - Returns: whether the device is free now.
    func ended(_ number: Int) -> Bool {
        hanging.remove(number)
        guard running?.number == number else { return false }
        running = nil
        return true
    }

    /// - Returns: whether the wait for the thread is over.
    func timeReached(now: MediaTimestamp) -> Bool {
        guard let running, let deadline = running.deadline, deadline <= now else { return false }
        hanging.insert(running.number)
        self.running = nil
        return true
    }
}
