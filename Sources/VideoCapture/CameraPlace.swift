import Controls
import LinuxIO
import Media

/// Where one of the cameras is opened, one time after the other. Used by the video thread.
final class CameraPlace {
    let name: String
    private let opening: CameraOpening
    /// Those that may be in the camera's driver, or wait for one that is; the newest is the last one.
    private var threads: [CameraThread] = []
    /// What the camera was asked for while it was on.
    var kept: [ControlChange] = []

    init(_ camera: SwitchableCamera) {
        name = camera.name
        opening = camera.open
    }

    /// Starts to open the camera, when each earlier thread has closed it.
    func open(patience: Duration) throws -> CameraThread {
        // One that has given up waiting is gone, but not the one that it has waited for.
        threads.removeAll { $0.hasEnded }
        let thread = try CameraThread(patience: patience, after: threads.reversed(), opening)
        threads.append(thread)
        return thread
    }

    /// As `open`, for one who takes the camera when it is open.
    func openBeside(patience: Duration, stop: EventFD) throws -> PendingCamera {
        PendingCamera(try open(patience: patience), stop: stop)
    }

    private enum Waited {
        case camera, stop
    }

    /// Waits until the camera is open. It starts when its first frame is asked for.
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

/// A camera that its own thread is opening, for one who has something else to do meanwhile. It is closed with this
/// object, unless it was taken. Used by the video thread.
final class PendingCamera {
    let thread: CameraThread
    /// Nobody waits for longer.
    let deadline = MonotonicClock.now() + CameraThreadError.openingTimeout
    private let stop: EventFD
    private var isTaken = false

    /// - Parameter stop: once signalled, waiting for the camera's frames ends. It is not drained.
    init(_ thread: CameraThread, stop: EventFD) {
        self.thread = thread
        self.stop = stop
    }

    deinit {
        if !isTaken { thread.close() }
    }

    /// - Returns: the camera, once; `nil` while it is being opened.
    /// - Throws: why it does not open.
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
