import Controls
import DevicePorts
import LinuxIO
import Media

/// A camera that is opened, read and closed by a thread of its own.
public struct SwitchableCamera: Sendable {
    /// In commands, if the stream has several cameras.
    let name: String
    /// The file or device node that the camera reads; `nil` if unknown. While a thread hangs there, no other one tries it.
    let path: String?
    let isFile: Bool
    let open: CameraOpening

    public init(name: String = "", path: String? = nil, isFile: Bool = false, open: @escaping CameraOpening) {
        self.name = name
        self.path = path
        self.isFile = isFile
        self.open = open
    }
}

/// One of the stream's cameras, which may be opened repeatedly. Used by the video thread.
final class CameraPlace {
    private let camera: SwitchableCamera
    /// Threads that may still be in the camera's driver or waiting for an earlier one; the newest is last.
    private var threads: [CameraThread] = []
    /// The controls that the camera had while it was active.
    var kept: [ControlChange] = []

    init(_ camera: SwitchableCamera) {
        self.camera = camera
    }

    var name: String { camera.name }

    /// Starts to open the camera. Its thread first waits until all earlier threads have closed it.
    func open(patience: Duration) throws -> CameraThread {
        // A thread that gave up waiting has ended, but not the one it waited for.
        threads.removeAll { $0.hasEnded }
        let thread = try CameraThread(camera, patience: patience, after: threads.reversed())
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
        do {
            while true {
                pending.thread.changed.drain()
                if let camera = try pending.take() { return camera }
                var waits: PollSet<Waited> = [
                    .camera: pending.thread.changed.fileDescriptor, .stop: stop.fileDescriptor,
                ]
                try waits.wait(until: pending.deadline)
                guard !waits.isReady(.stop) else { break }
            }
            end()
            throw CameraThreadError.notOpened
        } catch {
            // It has had its time.
            pending.thread.close()
            pending.thread.abandon()
            throw error
        }
    }

    /// Closes the camera, and waits for that with a limit.
    func end() {
        let now = MonotonicClock.now()
        close()
        waitForEnd(since: now)
    }

    func close() {
        for thread in threads { thread.close() }
    }

    /// - Parameter since: when the place was closed.
    func waitForEnd(since: MediaTimestamp) {
        let deadline = since + CameraThreadError.closingTimeout
        for thread in threads.reversed() where !thread.waitForEnd(until: deadline) { thread.abandon(since: since) }
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

/// The result of an attempt to open a camera.
enum CameraAttempt {
    case done(any Camera)
    /// Another thread is opening it; check it now and then.
    case underWay(PendingCamera)
}
