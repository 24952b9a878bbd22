import Controls
import DevicePorts
import LinuxIO
import Media
import Synchronization

/// Opens a camera, as often as needed, on any thread.
///
/// The parameter ends the camera's waits when it is signaled. It is not drained.
public typealias CameraOpening = @Sendable (EventFD) throws -> any Camera

/// A camera on its own thread, which opens, reads and closes it. Nothing there can delay the frames of another camera, and a
/// hanging driver is left behind. Any thread.
///
/// ```
///            start             a frame        turnOn
///  opening ─────────▶ waiting ─────────▶ standby ─────────▶ on
///                                        frames are         frames are
///                                        released           for the taker
/// ```
final class CameraThread: Sendable {
    /// The properties known after opening.
    struct Properties: Sendable {
        let name: String
        let model: String
        let origin: String
        let layouts: SourceLayouts
        let memoryKind: FrameMemoryKind
        let frameRate: FrameRate
        let colors: VideoColors?
        let flips: FrameFlips
        let ownRotation: FrameRotation
        let controlOffers: [ControlOffer]
        let reportsLight: Bool

        init(_ camera: any Camera) {
            name = camera.name
            model = camera.model
            origin = camera.origin
            layouts = camera.layouts
            memoryKind = camera.memoryKind
            frameRate = camera.frameRate
            colors = camera.colors
            flips = camera.flips
            ownRotation = camera.ownRotation
            controlOffers = camera.offeredControls
            reportsLight = camera.controls?.reportsLight ?? false
        }
    }

    enum Progress: Sendable {
        case opening
        /// The camera is open but has not delivered a frame yet.
        case waiting(Properties, since: MediaTimestamp)
        case ready(Properties)
        /// The camera is unusable. It may still be closing.
        case failed(any Error)
    }

    /// Orders that the thread passes to the camera before the next frame.
    struct Orders: Sendable {
        var size: FrameSize?
        var rate: FrameRate?
        /// The controls of each group take effect at the same frame.
        var controls: [[ControlChange]] = []
        var isReportWanted = false
    }

    struct State: Sendable {
        var orders = Orders()
        var properties: Properties?
        var openSince: MediaTimestamp?
        var isStarted = false
        var hasGivenFrame = false
        var isOn = false
        /// Deliver frames only from the first one of this size on, or from this time.
        var awaited: (size: FrameSize, until: MediaTimestamp)?
        var frames: [CapturedFrame] = []
        var failure: (any Error)?
        /// The camera has delivered its last frame, and how it ended on its own.
        var hasStopped = false
        var endingNote: String?
        /// While the thread has the camera, unless it reads no path.
        var occupancy: NodeOccupancy?
        var report = CameraReport()
        var refusal: ControlError?
        var isCloseWanted = false
        var hasEnded = false
        /// The camera's own counts.
        var statistics = VideoSourceStatistics()
        /// Frames delivered by the camera before it was active.
        var earlyFrames = 0
        /// Frames delivered by the camera but not taken in time.
        var lostFrames = 0
    }

    /// As many as a driver would buffer for a slow reader.
    private static let mostWaitingOfCamera = 3
    /// A movie's frames are not late when they have waited.
    private static let mostWaitingOfFile = 10
    /// Longer than six frames at five per second, which may still arrive in the previous size.
    private static let sizePatience = Duration.seconds(2)
    /// Readable when the progress has changed or there is a frame.
    let changed: EventFD
    let stop: EventFD
    let started: EventFD
    let state = Mutex(State())

    let mostWaiting: Int

    /// - Parameters:
    ///   - patience: how long to retry while another user occupies the camera.
    ///   - earlier: earlier threads of the same camera, newest first, to wait for.
    init(
        _ camera: SwitchableCamera, patience: Duration, after earlier: [CameraThread] = []
    ) throws(SystemCallError) {
        changed = try EventFD()
        stop = try EventFD()
        started = try EventFD()
        mostWaiting = camera.isFile ? Self.mostWaitingOfFile : Self.mostWaitingOfCamera
        // A hang in the camera does not concern the watchdog: the stream continues without it, or with another camera.
        _ = try NamedThread("camera", mayBlock: true) { [self] in run(camera, patience, after: earlier) }
    }

    var progress: Progress {
        state.withLock { state in
            if let failure = state.failure { return .failed(failure) }
            guard let properties = state.properties, let since = state.openSince else { return .opening }
            return state.hasGivenFrame ? .ready(properties) : .waiting(properties, since: since)
        }
    }

    /// Whether the thread has finished with the camera.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Whether a frame is ready to be taken.
    var hasFrame: Bool { state.withLock { !$0.frames.isEmpty } }

    var statistics: VideoSourceStatistics {
        state.withLock { state in
            var statistics = state.statistics
            // Waiting frames count when they are taken.
            statistics.capturedFrames -= state.earlyFrames + state.lostFrames + state.frames.count
            statistics.startupFrames += state.earlyFrames
            statistics.droppedFrames += state.lostFrames
            return statistics
        }
    }

    /// Makes the camera deliver frames.
    func start() {
        state.withLock { $0.isStarted = true }
        started.signal()
    }

    /// From here on, frames are kept to be taken.
    /// - Parameter size: of the first frame; `nil` for any.
    func turnOn(at size: FrameSize? = nil) {
        let now = MonotonicClock.now()
        state.withLock { state in
            guard !state.isOn else { return }
            state.isOn = true
            if let size {
                state.orders.size = size
                state.awaited = (size, now + Self.sizePatience)
            }
        }
        start()
    }

    func order(_ change: (inout Orders) -> Void) { state.withLock { change(&$0.orders) } }

    /// - Returns: `none` if there is no frame yet.
    /// - Throws: the camera's error, after its last frame.
    func takeFrame() throws -> CameraFrame {
        let (frame, failure, hasStopped) = state.withLock { state in
            (state.frames.isEmpty ? nil : state.frames.removeFirst(), state.failure, state.hasStopped)
        }
        if let frame { return .captured(frame) }
        if let failure { throw failure }
        return hasStopped ? .stopped : .none
    }

    /// Starts to close the camera and releases its waiting frames at once.
    func close() {
        // Drop frames outside of the lock.
        _ = state.withLock { state in
            state.isCloseWanted = true
            state.lostFrames += state.frames.count
            defer { state.frames = [] }
            return state.frames
        }
        stop.signal()
    }

    /// Nobody waits for the thread any longer. If it hangs, later streams do not try the same path meanwhile.
    /// - Parameter since: when it was asked to end; `nil` if it is still opening the camera.
    func abandon(since: MediaTimestamp? = nil) {
        let occupancy = state.withLock { $0.hasEnded ? nil : $0.occupancy }
        occupancy?.abandon(since: since)
    }

    /// - Returns: whether the thread has ended.
    @discardableResult
    func waitForEnd(until deadline: MediaTimestamp) -> Bool {
        while !hasEnded {
            changed.drain()
            guard !hasEnded else { break }
            var entries = [PollEntry(changed.fileDescriptor)]
            guard MonotonicClock.now() < deadline, (try? poll(&entries, until: deadline)) != nil else { return false }
        }
        return true
    }
}
