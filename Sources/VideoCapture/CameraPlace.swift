import Controls
import LinuxIO
import Media

/// One of the stream's cameras, which may be opened repeatedly. Used by the video thread.
final class CameraPlace {
    let name: String
    private let opening: CameraOpening
    /// Threads that may still be in the camera's driver or waiting for an earlier one; the newest is last.
    private var threads: [CameraThread] = []
    /// The controls that the camera had while it was active.
    var kept: [ControlChange] = []

    init(_ camera: SwitchableCamera) {
        name = camera.name
        opening = camera.open
    }

    /// Starts to open the camera. Its thread first waits until all earlier threads have closed it.
    func open(patience: Duration) throws -> CameraThread {
        // A thread that gave up waiting has ended, but not the one it waited for.
        threads.removeAll { $0.hasEnded }
        let thread = try CameraThread(patience: patience, after: threads.reversed(), opening)
        threads.append(thread)
        return thread
    }

    /// Like `open`, for a caller that takes the camera later.
    func openBeside(patience: Duration, stop: EventFD) throws -> PendingCamera {
        PendingCamera(try open(patience: patience), stop: stop)
    }

    private enum Waited {
        case camera, stop
    }

    /// Waits until the camera is open. It starts when the first frame is requested.
    func openNow(patience: Duration, stop: EventFD) throws -> ThreadedCamera {
        let pending = try openBeside(patience: patience, stop: stop)
        while true {
            pending.thread.changed.drain()
            if let camera = try pending.take() { return camera }
            var waits: PollSet<Waited> = [.camera: pending.thread.changed.fileDescriptor, .stop: stop.fileDescriptor]
            try waits.wait(until: pending.deadline)
            if waits.isReady(.stop) { throw CameraThreadError.notOpened }
        }
    }

    func close() {
        for thread in threads { thread.close() }
    }

    func waitForEnd(until deadline: MediaTimestamp) {
        for thread in threads.reversed() { thread.waitForEnd(until: deadline) }
    }
}

/// A camera that is being opened on its own thread while the caller does something else. It is closed together with this object
/// unless it was taken. Used by the video thread.
final class PendingCamera {
    let thread: CameraThread
    /// When to stop waiting.
    let deadline = MonotonicClock.now() + CameraThreadError.openingTimeout
    private let stop: EventFD
    private var isTaken = false

    /// - Parameter stop: ends the wait for frames when signaled. It is not drained.
    init(_ thread: CameraThread, stop: EventFD) {
        self.thread = thread
        self.stop = stop
    }

    deinit {
        if !isTaken { thread.close() }
    }

    /// - Returns: the camera, once; `nil` while it is being opened.
    /// - Throws: the reason if it cannot be opened.
    func take() throws -> ThreadedCamera? {
        switch thread.progress {
        case .opening:
            guard MonotonicClock.now() < deadline else { throw CameraThreadError.notOpened }
            return nil
        case .waiting(let properties, _), .ready(let properties):
            isTaken = true
            return ThreadedCamera(thread, properties, stop: stop)
        case .failed(let error): throw error
        }
    }
}
