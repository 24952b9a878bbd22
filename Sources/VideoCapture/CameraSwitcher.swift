import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A request to switch to another camera, and when it was made.
package struct CameraWish: Sendable {
    let name: String
    let time: MediaTimestamp

    package init(name: String, time: MediaTimestamp) {
        self.name = name
        self.time = time
    }
}

/// Several cameras as one source, with one of them active. Used by the video thread.
///
/// The next camera is opened and delivers frames in parallel with the present one, which continues until the encoder is ready
/// for the next one's frames. If both cannot be open at once, the present camera is closed first, and its last frame is
/// repeated.
///
/// ```
///          wish                a frame           the encoder is ready        its first frame
///  steady ─────▶ next opens ─────────▶ next is ready ─────────────▶ handing over ─────────▶ steady
///                    │ something that the present one holds is in its way
///                    └──▶ present one suspended, next opens again ─▶ ...
/// ```
/// If anything fails on the way, the present camera stays active.
package final class CameraSwitcher: VideoSource {
    /// A switch in progress.
    private struct Change {
        let camera: CameraPlace
        /// When it was requested.
        let wished: MediaTimestamp
        var thread: CameraThread
        var started: MediaTimestamp
        /// Whether the present camera is suspended for it.
        var isPresentClosed: Bool
        /// When the encoder was ready for it.
        var handedOver: MediaTimestamp?
    }

    /// Time limit from opening a camera to its first frame, and from the hand-over to its next one.
    static let frameTimeout = Duration.seconds(5)
    /// Time to wait for a busy camera, which may just be closing.
    private static let patience = Duration.milliseconds(500)
    /// Longer, if the present camera was in the way: its driver takes a moment to close.
    private static let patienceAfterClosing = Duration.seconds(3)
    private static let silence = "it delivered no frame within \(frameTimeout)"
    /// How often requests are checked while no frames arrive.
    private static let attention = Duration.milliseconds(100)

    package let endingNote: String? = nil
    package var cameraModel: String? { present.cameraModel }
    private let places: [CameraPlace]
    private let takeNewestWish: () -> CameraWish?
    private let stop: EventFD
    private let notify: @Sendable (SourceEvent) -> Void
    private let failed: @Sendable (_ name: String, _ reason: String) -> Void
    private var present: ResilientCamera
    private var presentPlace: CameraPlace
    private var change: Change?
    /// When the active camera was requested; `nil` for the first one.
    package private(set) var lastWish: MediaTimestamp?
    /// The last report of the previously active camera.
    private(set) var reportBefore = CameraReport()
    /// Counts of previously active cameras.
    private var past = VideoSourceStatistics()
    private var selectedRate: FrameRate?
    private var lastTime: MediaTimestamp?
    private var supersededFrames = 0

    /// - Parameters:
    ///   - cameras: the first one is active at the start.
    ///   - takeWish: returns the newest request for another camera; `nil` if there was none since the last call.
    ///   - failed: called if a switch fails; the present camera stays active.
    /// - Throws: the error of opening the first camera.
    package init?(
        _ cameras: [SwitchableCamera], takeWish: @escaping () -> CameraWish?, stop: EventFD,
        notify: @escaping @Sendable (SourceEvent) -> Void,
        failed: @escaping @Sendable (_ name: String, _ reason: String) -> Void
    ) throws {
        places = cameras.map(CameraPlace.init)
        guard let first = places.first else { return nil }
        takeNewestWish = takeWish
        self.stop = stop
        self.notify = notify
        self.failed = failed
        presentPlace = first
        present = ResilientCamera(try first.openNow(patience: .zero, stop: stop), stop: stop, notify: notify) {
            CameraAttempt.underWay(try first.openBeside(patience: Self.patience, stop: stop))
        }
    }

    /// Makes sure that the cameras are closed before anything else opens them.
    deinit {
        let now = MonotonicClock.now()
        for place in places { place.close() }
        for place in places { place.waitForEnd(since: now) }
    }

    // MARK: VideoSource

    package var layout: FrameLayout { present.layout }
    package var memoryKind: FrameMemoryKind { present.memoryKind }
    package var frameRate: FrameRate { present.frameRate }
    package var colors: VideoColors? { present.colors }

    package var statistics: VideoSourceStatistics {
        var sum = past
        sum.add(present.statistics)
        sum.capturedFrames -= supersededFrames
        sum.supersededFrames += supersededFrames
        return sum
    }

    package func nextFrame() throws -> CapturedFrame? {
        while true {
            takeWish()
            advance()
            switch try present.nextFrame(until: MonotonicClock.now() + Self.attention) {
            case .captured(let frame):
                // The next camera's first frame may be older than the last delivered one.
                if let lastTime, frame.captureTime <= lastTime {
                    supersededFrames += 1
                    continue
                }
                lastTime = frame.captureTime
                return frame
            case .none: continue
            case .stopped: return nil
            }
        }
    }

    // MARK: For the encoder

    /// The active camera's name.
    package var name: String { presentPlace.name }

    /// The counts of the active camera's frames.
    var frames: SourceFrames {
        SourceFrames(
            layouts: present.layouts, memoryKind: present.memoryKind, colors: present.colors, camera: name)
    }

    /// The next camera's frames, once it has delivered one; `nil` otherwise.
    var next: SourceFrames? {
        guard let change, case .ready(let properties) = change.thread.progress else { return nil }
        return SourceFrames(
            layouts: properties.layouts, memoryKind: properties.memoryKind, colors: properties.colors,
            camera: change.camera.name)
    }

    /// The encoder is ready: makes the next camera active with its next frame of this size.
    package func handOver(at size: FrameSize? = nil) {
        guard let change, change.handedOver == nil else { return }
        self.change?.handedOver = MonotonicClock.now()
        change.thread.turnOn(at: size)
    }

    /// The encoder cannot use the next camera's frames.
    package func refuseNext(_ reason: String) { fail(reason) }

    // MARK: Switching

    /// The last request counts.
    private func takeWish() {
        guard let wish = takeNewestWish(), change?.camera.name != wish.name else { return }
        let isPresentClosed = change?.isPresentClosed ?? false
        change?.thread.close()
        change = nil
        guard wish.name != presentPlace.name, let place = places.first(where: { $0.name == wish.name }) else {
            if isPresentClosed { present.resume() }
            return
        }
        start(place, wished: wish.time, isPresentClosed: isPresentClosed)
    }

    private func start(_ place: CameraPlace, wished: MediaTimestamp, isPresentClosed: Bool) {
        do {
            let thread = try place.open(patience: isPresentClosed ? Self.patienceAfterClosing : Self.patience)
            // Restore its controls before its first frame.
            if !place.kept.isEmpty { thread.order { $0.controls = [place.kept] } }
            thread.start()
            change = Change(
                camera: place, wished: wished, thread: thread, started: MonotonicClock.now(),
                isPresentClosed: isPresentClosed)
        } catch {
            if isPresentClosed { present.resume() }
            failed(place.name, "\(error)")
        }
    }

    private func advance() {
        guard let change else { return }
        let now = MonotonicClock.now()
        switch change.thread.progress {
        case .opening:
            if now - change.started >= CameraThreadError.openingTimeout { fail("\(CameraThreadError.notOpened)") }
        case .waiting(_, let since):
            if now - since >= Self.frameTimeout { fail(Self.silence) }
        case .ready(let properties):
            // Nothing is being encoded, so there is no encoder to wait for.
            if !present.hasGivenFrame { handOver() }
            guard let handedOver = change.handedOver else { break }
            if change.thread.hasFrame {
                cross(change, properties)
            } else if now - handedOver >= Self.frameTimeout {
                // It has stalled since its first frame.
                fail(Self.silence)
            }
        case .failed(let error):
            if !change.isPresentClosed, (error as? any CameraFailure)?.mayBeContention == true {
                present.suspend()
                start(change.camera, wished: change.wished, isPresentClosed: true)
            } else {
                fail("\(error)")
            }
        }
    }

    /// Makes the next camera active.
    private func cross(_ change: Change, _ properties: CameraThread.Properties) {
        past.add(present.statistics)
        reportBefore = present.newestReport
        presentPlace.kept = present.wishedControls.changes(asFound: reportBefore)
        let (place, stop) = (change.camera, stop)
        // The previous camera closes on its own thread.
        present = ResilientCamera(ThreadedCamera(change.thread, properties, stop: stop), stop: stop, notify: notify) {
            CameraAttempt.underWay(try place.openBeside(patience: Self.patience, stop: stop))
        }
        present.keep(place.kept)
        presentPlace = place
        lastWish = change.wished
        self.change = nil
        if let selectedRate { present.selectFrameRate(selectedRate) }
    }

    private func fail(_ reason: String) {
        guard let change else { return }
        change.thread.close()
        self.change = nil
        if change.isPresentClosed { present.resume() }
        failed(change.camera.name, reason)
    }
}

extension CameraSwitcher: FrameSizeSelection {
    package var layouts: SourceLayouts { present.layouts }
    package func selectSize(_ size: FrameSize) { present.selectSize(size) }
}

extension CameraSwitcher: FrameRateSelection {
    package func selectFrameRate(_ rate: FrameRate) {
        selectedRate = rate
        present.selectFrameRate(rate)
    }
}

/// Controls of the active camera.
extension CameraSwitcher: ControllableSource {
    package var controlOffers: [ControlOffer] { present.controlOffers }
    package var wishedControls: WishedControls { present.wishedControls }
    package var cameraReport: CameraReport { present.cameraReport }
    package func apply(_ changes: [ControlChange]) throws(ControlError) { try present.apply(changes) }
    package var lux: Double? { present.lux }
    package func takeRefusal() -> ControlError? { present.takeRefusal() }
}
