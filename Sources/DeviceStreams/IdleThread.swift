import LinuxIO
import Media

/// The thread on which a camera or a microphone is open without a stream: one at a time. Used from the main thread.
final class IdleThread<Request: Sendable> {
    private struct Running {
        let number: Int
        let request: Request
        let stop: EventFD
        /// Once it is to end: it is waited for until then.
        var deadline: MediaTimestamp?
    }

    /// As long as a camera may take to open, from which nothing calls it back.
    static var closingTimeout: Duration { .seconds(10) }

    private let name: String
    private let run: @Sendable (Request, EventFD) -> Void
    private let ended: @Sendable (Int) -> Void
    private var running: Running?
    private var lastNumber = 0
    /// Those that have not ended in time. Another one would wait for the same driver.
    private var hanging: Set<Int> = []

    /// - Parameters:
    ///   - run: until the descriptor is signalled, on the thread.
    ///   - ended: the thread's last call, with its number.
    init(
        _ name: String, run: @escaping @Sendable (Request, EventFD) -> Void, ended: @escaping @Sendable (Int) -> Void
    ) {
        self.name = name
        self.run = run
        self.ended = ended
    }

    /// `nil` while there is none.
    var request: Request? { running?.request }
    /// When one that is to end has taken too long for it.
    var nextDeadline: MediaTimestamp? { running?.deadline }

    func start(_ request: Request) throws(SystemCallError) {
        guard running == nil, hanging.isEmpty else { return }
        lastNumber += 1
        let (number, run, ended, stop) = (lastNumber, run, ended, try EventFD())
        // A driver that hangs is left alone with it.
        _ = try NamedThread(name, mayBlock: true) {
            run(request, stop)
            ended(number)
        }
        running = Running(number: number, request: request, stop: stop)
    }

    /// Asks it to close the device.
    func stop(now: MediaTimestamp) {
        guard running != nil, running?.deadline == nil else { return }
        running?.stop.signal()
        running?.deadline = now + Self.closingTimeout
    }

    /// A thread has ended.
    /// - Returns: whether the device is free by that.
    func ended(_ number: Int) -> Bool {
        hanging.remove(number)
        guard running?.number == number else { return false }
        running = nil
        return true
    }

    /// - Returns: whether it is waited for no more.
    func timeReached(now: MediaTimestamp) -> Bool {
        guard let running, let deadline = running.deadline, deadline <= now else { return false }
        hanging.insert(running.number)
        self.running = nil
        return true
    }
}
