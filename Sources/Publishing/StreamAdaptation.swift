import Encoding
import LinuxIO
import Media
import MediaPipeline
import StreamLogic
import StreamQuality

/// Runs the quality controller: measures ten times a second while media is sent, and passes on what it decides.
/// Used from the thread `stream`.
final class StreamAdaptation {
    /// An order or message for the publisher.
    enum Event {
        case changed(QualityChange)
        /// - Parameter bitrate: what it carries.
        case uplinkTooSlow(bitrate: Bitrate)
        /// End the stream in order and start it again at this point.
        case restart(OperatingPoint)
    }

    private static let interval = Duration.milliseconds(100)
    /// A link that stays too slow is reported at most once in this time.
    private static let warningInterval = Duration.seconds(10)

    private(set) var controller: QualityController
    /// Makes what the encoder is set to for frames of an operating point's size; `nil` when it cannot have it.
    var resizedEncoder: ((OperatingPoint) -> VideoEncoderConfiguration?)?
    private let control: EncoderRequests
    /// The leading target's.
    private var queue: SinkBuffer
    private let counters: SharedCounters
    /// `nil` while no media is sent.
    private(set) var nextMeasurement: MediaTimestamp?
    private(set) var lastMeasurement: StreamMeasurement?
    private(set) var lastReason: QualityChangeReason?
    private var warnedAt: MediaTimestamp?
    /// A warning that the uplink is too slow, and the bytes delivered until then: where no more follow, the server is away.
    private var heldWarning: (bitrate: Bitrate, deliveredBytes: Int)?
    /// The next connection is the stream's next start, by our own wish.
    private var isRestarting = false

    init(settings: QualitySettings, control: EncoderRequests, queue: SinkBuffer, counters: SharedCounters) {
        controller = QualityController(settings: settings, now: MonotonicClock.now())
        self.control = control
        self.queue = queue
        self.counters = counters
    }

    var operatingPoint: OperatingPoint { controller.operatingPoint }
    var isLinkStalled: Bool { controller.isLinkStalled }
    var linkEstimate: Bitrate? { controller.linkEstimate }
    var bufferLimits: SendBufferLimits { controller.settings.bufferLimits }

    /// Another target leads from now on.
    func follow(_ queue: SinkBuffer) {
        self.queue = queue
        isRestarting = false
    }

    /// Media flows on a new connection from now on.
    func connectionOpened(now: MediaTimestamp) -> [Event] {
        nextMeasurement = now + Self.interval
        heldWarning = nil
        defer { isRestarting = false }
        return perform(controller.connectionOpened(isRestart: isRestarting, now: now))
    }

    /// No media flows: nothing can be measured.
    func connectionLost() { nextMeasurement = nil }

    /// A still and silence are sent, or no longer.
    func paused(_ isPaused: Bool) { controller.paused(isPaused, now: MonotonicClock.now()) }

    /// Measures when it is time.
    func timePassed(now: MediaTimestamp) -> [Event] {
        guard let time = nextMeasurement, now >= time else { return [] }
        nextMeasurement = max(time + Self.interval, now + Self.interval / 2)
        let measurement = queue.measurement(counters.snapshot, now: now)
        lastMeasurement = measurement
        let warning = takeWarning(measurement)
        let actions = controller.measured(measurement)
        for case .reportChange(let change) in actions { holdWarning(of: change, measurement) }
        let events = warning + perform(actions)
        queue.limitFlight(to: controller.flightLimit)
        return events
    }

    /// A transaction by the stream's owner.
    /// - Parameters:
    ///   - isMuted: as a part of it; `nil` to leave it.
    ///   - replacement: makes another encoder for the new operating point, where the present one announces too little.
    func settingsChanged(
        to settings: QualitySettings, isMuted: Bool?, now: MediaTimestamp,
        replacement: ((OperatingPoint) -> VideoEncoderConfiguration?)?
    ) -> [Event] {
        let actions = controller.settingsChanged(to: settings, now: now)
        return perform(actions, isMuted: isMuted, replacement: replacement?(controller.operatingPoint))
    }

    /// The encoder has been opened for this size, which memory may have made smaller than it was wanted.
    func opened(frameSizes: FrameSizeLadder?, size: FrameSize) { controller.opened(frameSizes: frameSizes, size: size) }

    /// The encoder goes on with frames of this size, and is asked for no other: one that was ordered meanwhile is void.
    func sizeRefused(keeping size: FrameSize) {
        controller.sizeRefused(keeping: size)
        control.perform([], resize: resizedEncoder?(controller.operatingPoint))
    }

    /// The stream was started again for a size that the hardware does not encode: it is to start once more in this one.
    /// - Returns: where it goes on.
    func sizeNotOpened(goingBackTo size: FrameSize) -> OperatingPoint {
        controller.sizeRefused(keeping: size)
        return restarting()
    }

    /// The stream starts again although the controller did not ask for it.
    /// - Returns: where it goes on.
    func restarting() -> OperatingPoint {
        isRestarting = true
        return controller.operatingPoint
    }

    /// The stream could not start again: the encoders that there are do what the controller wants.
    func restartFailed() {
        isRestarting = false
        let point = controller.operatingPoint
        var actions = [
            QualityAction.setVideo(
                bitrate: point.videoBitrate, frameRate: point.frameRate,
                stretchesKeyframes: controller.stretchesKeyframes)
        ]
        if let audio = point.audioQuality { actions.append(.setAudio(audio)) }
        control.perform(actions)
    }

    private func perform(
        _ actions: [QualityAction], isMuted: Bool? = nil, replacement: VideoEncoderConfiguration? = nil
    ) -> [Event] {
        var resize: VideoEncoderConfiguration?
        for case .resizeVideo(let point) in actions { resize = resizedEncoder?(point) }
        control.perform(actions, isMuted: isMuted, replacement: replacement, resize: resize)
        return actions.compactMap { action in
            switch action {
            case .resizeVideo, .setVideo, .setAudio, .requestKeyframe: return nil
            case .discardWaitingVideo:
                queue.discardWaitingVideo()
                return nil
            case .restartStream(let point):
                isRestarting = true
                return .restart(point)
            case .reportChange(let change):
                lastReason = change.reason
                return .changed(change)
            }
        }
    }

    /// Where nothing is acknowledged at all, the server is away, or the way to it, and what the uplink carries is unknown.
    private func holdWarning(of change: QualityChange, _ measurement: StreamMeasurement) {
        switch change.reason {
        case .stalled: heldWarning = nil
        case .linkCarriesLess:
            heldWarning = (change.linkEstimate ?? change.from.mediaBitrate, measurement.deliveredBytes)
        default: break
        }
    }

    private func takeWarning(_ measurement: StreamMeasurement) -> [Event] {
        guard let held = heldWarning, measurement.deliveredBytes > held.deliveredBytes else { return [] }
        heldWarning = nil
        if let warnedAt, measurement.now - warnedAt < Self.warningInterval { return [] }
        warnedAt = measurement.now
        return [.uplinkTooSlow(bitrate: held.bitrate)]
    }
}
