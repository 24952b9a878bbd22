import Controls
import DevicePorts
import LinuxIO
import Media
import Synchronization

/// Opens a camera, as often as it is needed, on any thread.
///
/// Its parameter, once signalled, ends the camera's waits. It is not drained.
public typealias CameraOpening = @Sendable (EventFD) throws -> any Camera

/// A camera on a thread of its own, where it is opened, read and closed: none of it holds up the frames of another camera, and
/// a driver that hangs is left alone. Any thread.
///
/// ```
///            start             a frame        turnOn
///  opening ─────────▶ waiting ─────────▶ standby ─────────▶ on
///                                        frames are         frames are
///                                        released           for the taker
/// ```
final class CameraThread: Sendable {
    /// What is known of a camera once it is open.
    struct Properties: Sendable {
        let name: String
        let model: String
        let layouts: SourceLayouts
        let memoryKind: FrameMemoryKind
        let frameRate: FrameRate
        let colors: VideoColors?
        let controlOffers: [ControlOffer]
        let reportsLight: Bool

        init(_ camera: any Camera) {
            name = camera.name
            model = camera.model
            layouts = camera.layouts
            memoryKind = camera.memoryKind
            frameRate = camera.frameRate
            colors = camera.colors
            controlOffers = camera.offeredControls
            reportsLight = camera.controls?.reportsLight ?? false
        }
    }

    enum Progress: Sendable {
        case opening
        /// It is open, and has given no frame yet.
        case waiting(Properties, since: MediaTimestamp)
        case ready(Properties)
        /// It is of no use any more; closing may still be under way.
        case failed(any Error)
    }

    /// What the thread passes on to the camera before its next frame.
    struct Orders: Sendable {
        var size: FrameSize?
        var rate: FrameRate?
        /// Those of each group take effect with one frame.
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
        /// The first frame that is for the taker has this size, unless the time comes before.
        var awaited: (size: FrameSize, until: MediaTimestamp)?
        var frames: [CapturedFrame] = []
        var failure: (any Error)?
        var report = CameraReport()
        var refusal: ControlError?
        var isCloseWanted = false
        var hasEnded = false
        /// As the camera counts.
        var statistics = VideoSourceStatistics()
        /// Given by the camera before it was on.
        var earlyFrames = 0
        /// Given by the camera, and not taken in time.
        var lostFrames = 0
    }

    /// Longer than six frames take at five a second: so many may be under way in the size before.
    private static let sizePatience = Duration.seconds(2)
    /// Readable when something of the progress has changed, or there is a frame.
    let changed: EventFD
    let stop: EventFD
    let started: EventFD
    let state = Mutex(State())

    /// - Parameters:
    ///   - patience: for so long a camera that another one stands in the way of is tried again.
    ///   - earlier: of the same camera, the newest first; they are waited for.
    init(
        patience: Duration, after earlier: [CameraThread] = [], _ open: @escaping CameraOpening
    ) throws(SystemCallError) {
        changed = try EventFD()
        stop = try EventFD()
        started = try EventFD()
        // What hangs in it is not the watchdog's business: the stream goes on with another camera.
        _ = try NamedThread("camera", mayBlock: true) { [self] in run(open, patience, after: earlier) }
    }

    var progress: Progress {
        state.withLock { state in
            if let failure = state.failure { return .failed(failure) }
            guard let properties = state.properties, let since = state.openSince else { return .opening }
            return state.hasGivenFrame ? .ready(properties) : .waiting(properties, since: since)
        }
    }

    /// Whether the thread has left the camera for good.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Whether a frame waits that is to be taken.
    var hasFrame: Bool { state.withLock { !$0.frames.isEmpty } }

    var statistics: VideoSourceStatistics {
        state.withLock { state in
            var statistics = state.statistics
            // Those that wait count when they are taken.
            statistics.capturedFrames -= state.earlyFrames + state.lostFrames + state.frames.count
            statistics.startupFrames += state.earlyFrames
            statistics.droppedFrames += state.lostFrames
            return statistics
        }
    }

    /// The camera is to give frames, which it does not before.
    func start() {
        state.withLock { $0.isStarted = true }
        started.signal()
    }

    /// Frames are to be taken from here on.
    /// - Parameter size: of the first one; `nil` for any.
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

    /// - Returns: `nil` while there is none.
    /// - Throws: the camera's error, behind its last frame.
    func takeFrame() throws -> CapturedFrame? {
        let (frame, failure) = state.withLock { state in
            (state.frames.isEmpty ? nil : state.frames.removeFirst(), state.failure)
        }
        if let frame { return frame }
        if let failure { throw failure }
        return nil
    }

    /// Starts to close the camera; its frames that wait are free at once.
    func close() {
        // Frames are dropped outside of the lock.
        _ = state.withLock { state in
            state.isCloseWanted = true
            state.lostFrames += state.frames.count
            defer { state.frames = [] }
            return state.frames
        }
        stop.signal()
    }

    /// - Returns: whether it has.
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
