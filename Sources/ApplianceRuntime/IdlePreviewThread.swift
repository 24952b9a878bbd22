import LinuxIO
import Media
import StreamLogic

/// The thread on which the camera is open for the screen while there is no stream: one at a time. Used from the main thread.
final class IdlePreviewThread {
    private struct Running {
        let number: Int
        let request: IdlePreviewRequest
        let stop: EventFD
        /// Once it is to end: it is waited for until then.
        var deadline: MediaTimestamp?
    }

    /// As long as a camera may take to open, from which nothing calls it back.
    private static let closingTimeout = Duration.seconds(10)

    private let engine: StreamEngine
    private let reports: Mailbox<EngineEvent>
    private var running: Running?
    private var lastNumber = 0
    /// Those that have not ended in time. Another one would wait for the same driver.
    private var hanging: Set<Int> = []

    init(_ engine: StreamEngine, reports: Mailbox<EngineEvent>) {
        self.engine = engine
        self.reports = reports
    }

    var request: IdlePreviewRequest? { running?.request }
    /// When one that is to end has taken too long for it.
    var nextDeadline: MediaTimestamp? { running?.deadline }

    func start(_ request: IdlePreviewRequest) throws(SystemCallError) {
        guard running == nil, hanging.isEmpty else { return }
        lastNumber += 1
        let (number, engine, reports, stop) = (lastNumber, engine, reports, try EventFD())
        // A driver that hangs is left alone with it.
        _ = try NamedThread("idle-preview", mayBlock: true) {
            engine.previewIdle(request, stop) { reports.send(.idlePreview($0)) }
            reports.send(.idlePreviewEnded(number))
        }
        running = Running(number: number, request: request, stop: stop)
    }

    /// Asks it to close the camera.
    func stop(now: MediaTimestamp) {
        guard running != nil, running?.deadline == nil else { return }
        running?.stop.signal()
        running?.deadline = now + Self.closingTimeout
    }

    /// A thread has ended.
    /// - Returns: whether the camera is free by that.
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
        reports.send(.idlePreview(.away(reason: "its driver has not let go of it for \(Self.closingTimeout)")))
        return true
    }
}
