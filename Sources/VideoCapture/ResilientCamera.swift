import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A camera as an endless source. Carries out the decisions of `CaptureContinuity`. Used by the video thread.
public final class ResilientCamera: VideoSource {
    public var layout: FrameLayout { layouts.full }
    public let layouts: SourceLayouts
    public let memoryKind: FrameMemoryKind
    public let frameRate: FrameRate
    public let colors: VideoColors?
    public let flips: FrameFlips
    public let ownRotation: FrameRotation
    public var endingNote: String? { camera?.endingNote }
    public let cameraModel: String?
    public let origin: String
    private let name: String
    private let open: () throws -> CameraAttempt
    private let stop: EventFD
    private let notify: @Sendable (SourceEvent) -> Void
    private var camera: (any Camera)?
    /// Closes the camera together with this object; `nil` if the owner does that.
    private var place: CameraPlace?
    /// The camera being opened in the background.
    private var pending: PendingCamera?
    /// Applied again to a returning camera.
    private var selectedSize: FrameSize?
    private var selectedRate: FrameRate?
    public private(set) var wishedControls = WishedControls()
    /// The closed camera's last report.
    private var lastReport = CameraReport()
    public let controlOffers: [ControlOffer]
    private var continuity: CaptureContinuity
    /// The newest frame, withheld from the driver until the next one arrives.
    private var lastFrame: HeldFrame?
    /// Counts of closed cameras.
    private var past = VideoSourceStatistics()
    private var repeatedFrames = 0
    private var stale = StaleFrames()
    private var staleFrames = 0
    /// Time of the newest delivered frame, original or repeated.
    private var lastTime: MediaTimestamp?
    private var supersededFrames = 0
    private var interruptions = 0

    /// - Throws: the error of `open`, because a camera that is missing at the start is a mistake on the command line.
    ///   `nextFrame` throws the camera's error if it cannot start at all.
    public convenience init(
        stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void, open: @escaping () throws -> any Camera
    ) throws {
        self.init(try open(), stop: stop, notify: notify) { CameraAttempt.done(try open()) }
    }

    /// The camera is opened, read and closed on its own thread, so that a hanging driver or disk becomes an interruption.
    /// - Throws: see above; `CameraThreadError.notOpened` if the camera does not open in time.
    public convenience init(
        _ camera: SwitchableCamera, stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void
    ) throws {
        let place = CameraPlace(camera)
        self.init(try place.openNow(patience: .zero, stop: stop), stop: stop, notify: notify) {
            CameraAttempt.underWay(try place.openBeside(patience: Self.patience, stop: stop))
        }
        self.place = place
    }

    /// The previous thread may still be closing the camera.
    private static let patience = Duration.milliseconds(500)

    /// Makes sure that the camera is closed before anything else opens it.
    deinit { place?.end() }

    /// - Parameters:
    ///   - camera: already open.
    ///   - open: reopens it, or starts to.
    init(
        _ camera: any Camera, stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void,
        open: @escaping () throws -> CameraAttempt
    ) {
        self.camera = camera
        self.open = open
        self.stop = stop
        self.notify = notify
        name = camera.name
        cameraModel = camera.model.isEmpty ? nil : camera.model
        origin = camera.origin
        layouts = camera.layouts
        memoryKind = camera.memoryKind
        frameRate = camera.frameRate
        colors = camera.colors
        flips = camera.flips
        ownRotation = camera.ownRotation
        controlOffers = camera.offeredControls
        continuity = CaptureContinuity(frameRate: camera.frameRate, now: MonotonicClock.now())
    }

    public var statistics: VideoSourceStatistics {
        var sum = past
        if let camera { sum.add(camera.statistics) }
        sum.repeatedFrames = repeatedFrames
        // Delivered by the camera but dropped here.
        sum.capturedFrames -= staleFrames + supersededFrames
        sum.droppedFrames += staleFrames
        sum.supersededFrames = supersededFrames
        sum.interruptions = interruptions
        return sum
    }

    public func nextFrame() throws -> CapturedFrame? {
        while true {
            switch try nextFrame(until: nil) {
            case .captured(let frame): return frame
            case .none: continue
            case .stopped: return nil
            }
        }
    }

    /// Like `nextFrame()`, up to a time.
    func nextFrame(until limit: MediaTimestamp?) throws -> CameraFrame {
        while true {
            var given: CapturedFrame?
            switch try waitForFrame(until: [continuity.deadline, limit].compactMap { $0 }.min()) {
            case .stopped: return .stopped
            case .captured(let frame):
                given = judge(frame)
                // Even a late frame shows that the camera is alive.
                perform(continuity.frameArrived(now: MonotonicClock.now()))
            case .none:
                // Check it with each repetition.
                if pending != nil { reopen() }
                given = perform(continuity.timeReached(now: MonotonicClock.now())).map {
                    $0.frame(at: $0.repetitionTime)
                }
            }
            if let given {
                lastTime = given.captureTime
                return .captured(given)
            }
            if let limit, MonotonicClock.now() >= limit { return .none }
        }
    }

    /// Whether there is a frame to repeat.
    var hasGivenFrame: Bool { lastFrame != nil }

    /// Closes the camera so that another one can use its resources. Its last frame is repeated until `resume`.
    func suspend() {
        close()
        continuity.suspended()
    }

    func resume() { continuity.resumed(now: MonotonicClock.now()) }

    /// - Returns: the frame, if it should be delivered.
    private func judge(_ frame: CapturedFrame) -> CapturedFrame? {
        if stale.isStale(capturedAt: frame.captureTime, now: MonotonicClock.now()) {
            staleFrames += 1
            return nil
        }
        lastFrame = HeldFrame(frame)
        // A repetition's time is that of its delivery. Frames that arrive afterwards may have been captured earlier.
        if let lastTime, frame.captureTime <= lastTime {
            supersededFrames += 1
            return nil
        }
        return frame
    }

    private func waitForFrame(until deadline: MediaTimestamp?) throws -> CameraFrame {
        guard let camera, let deadline else {
            var entries = [PollEntry(stop.fileDescriptor)]
            return try poll(&entries, until: deadline) > 0 ? .stopped : .none
        }
        do {
            return try camera.nextFrame(until: deadline)
        } catch {
            // It has never delivered anything, so it counts as missing at the start.
            guard lastFrame != nil || interruptions > 0 else { throw error }
            if (error as? any CameraFailure)?.isPermanent == true { throw error }
            perform(continuity.cameraFailed("\(error)", now: MonotonicClock.now()))
            return .none
        }
    }

    /// - Returns: the frame to repeat.
    @discardableResult
    private func perform(_ actions: [CaptureContinuity.Action]) -> HeldFrame? {
        var repeated: HeldFrame?
        for action in actions {
            switch action {
            case .repeatFrame(let time):
                guard lastFrame != nil else { break }
                repeatedFrames += 1
                repeated = lastFrame
                repeated?.repetitionTime = time
            case .closeCamera: close()
            case .openCamera: reopen()
            case .reportInterruption(let reason):
                interruptions += 1
                notify(.interrupted(.video, source: name, reason: reason))
            case .reportReturn(let gap): notify(.returned(.video, source: name, after: gap))
            }
        }
        return repeated
    }

    /// Detaches the kept frame from the camera. If a driver cannot export memory, the frame would keep its device node open,
    /// and the camera would return under another name.
    private func close() {
        lastFrame = lastFrame.flatMap { $0.detached(as: memoryKind) }
        if let camera { past.add(camera.statistics) }
        _ = newestReport
        camera = nil
        pending = nil
    }

    /// The open camera's report, otherwise the closed one's.
    var newestReport: CameraReport {
        // A camera that is gone or has just started reports nothing.
        if let report = camera?.controls?.cameraReport, report != CameraReport() {
            lastReport = report
        }
        return lastReport
    }

    /// Tries all at once, then one by one; the stream continues in any case.
    private func restoreControls() {
        guard let camera = camera?.controls else { return }
        let changes = wishedControls.changes(asFound: lastReport)
        guard (try? camera.apply(changes)) == nil else { return }
        for change in changes { try? camera.apply([change]) }
    }

    private func reopen() {
        do {
            guard let opened = try openedCamera() else { return }
            camera = opened
            if let selectedSize { selectSize(selectedSize) }
            if let selectedRate { selectFrameRate(selectedRate) }
            restoreControls()
            stale = StaleFrames()
            continuity.cameraOpened(now: MonotonicClock.now())
        } catch {
            pending = nil
            perform(continuity.openingFailed("\(error)", now: MonotonicClock.now()))
        }
    }

    /// - Returns: `nil` while another thread opens it.
    private func openedCamera() throws -> (any Camera)? {
        if pending == nil {
            switch try open() {
            case .done(let camera): return camera
            case .underWay(let camera): pending = camera
            }
        }
        guard let opened = try pending?.take() else { return nil }
        pending = nil
        return opened
    }
}

extension ResilientCamera: FrameSizeSelection {
    public func selectSize(_ size: FrameSize) {
        selectedSize = size
        camera?.sizes?.selectSize(size)
    }
}

extension ResilientCamera: FrameRateSelection {
    public func selectFrameRate(_ rate: FrameRate) {
        selectedRate = rate
        camera?.rates?.selectFrameRate(rate)
    }
}

extension ResilientCamera: ControllableSource {
    /// A missing camera gets these controls when it returns.
    public func apply(_ changes: [ControlChange]) throws(ControlError) {
        try camera?.controls?.apply(changes)
        wishedControls.take(changes)
    }

    /// Records controls that the camera already has.
    func keep(_ changes: [ControlChange]) { wishedControls.take(changes) }

    public var lux: Double? { camera?.controls?.lux }
    public func takeRefusal() -> ControlError? { camera?.controls?.takeRefusal() }

    public var cameraReport: CameraReport {
        guard camera == nil else { return newestReport }
        var report = CameraReport()
        report.isAway = true
        return report
    }
}
