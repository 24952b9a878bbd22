import Encoding
import LinuxIO
import Media
import MediaPipeline
import StreamLogic
import StreamQuality

/// Runs the quality controller: measures ten times a second while media is sent, and passes on the decisions.
/// Used from the thread `stream`.
final class StreamAdaptation {
    /// An order or message for the publisher.
    enum Event {
        case changed(QualityChange)
        /// - Parameter bitrate: the rate that it carries.
        case uplinkTooSlow(bitrate: Bitrate)
        /// End the stream in order and restart it at this point.
        case restart(OperatingPoint)
    }

    private static let interval = Duration.milliseconds(100)
    /// A link that stays too slow is reported at most once in this time.
    private static let warningInterval = Duration.seconds(10)

    private(set) var controller: QualityController
    /// Makes the encoder's configuration for an operating point; `nil` if the encoder does not support it.
    var resizedEncoder: ((OperatingPoint) -> VideoEncoderConfiguration?)?
    private let control: EncoderRequests
    /// The leading target's; `nil` without targets.
    private var queue: SinkBuffer?
    private let counters: SharedCounters
    /// `nil` while no media is sent.
    private(set) var nextMeasurement: MediaTimestamp?
    private(set) var lastMeasurement: StreamMeasurement?
    private(set) var lastReason: QualityChangeReason?
    private var warnedAt: MediaTimestamp?
    /// A warning that the uplink is too slow, and the bytes delivered by then. If no more follow, the server is unreachable.
    private var heldWarning: (bitrate: Bitrate, deliveredBytes: Int)?
    /// The next connection is a restart of the stream that Tallycam itself decided.
    private var isRestarting = false

    init(settings: QualitySettings, control: EncoderRequests, queue: SinkBuffer?, counters: SharedCounters) {
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

    /// A pause started or ended: a still frame and silence are sent, or no longer.
    func paused(_ isPaused: Bool) { controller.paused(isPaused, now: MonotonicClock.now()) }

    /// Measures if a measurement is due.
    func timePassed(now: MediaTimestamp) -> [Event] {
        guard let queue, let time = nextMeasurement, now >= time else { return [] }
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

    /// Changes requested by the stream's owner.
    /// - Parameters:
    ///   - isMuted: `nil` to leave it unchanged.
    ///   - replacement: makes another encoder for the new operating point, if the present one's level or profile is too low.
    func settingsChanged(
        to settings: QualitySettings, isMuted: Bool?, now: MediaTimestamp,
        replacement: ((OperatingPoint) -> VideoEncoderConfiguration?)?
    ) -> [Event] {
        let actions = controller.settingsChanged(to: settings, now: now)
        return perform(actions, isMuted: isMuted, replacement: replacement?(controller.operatingPoint))
    }

    /// The encoder was opened for this size, which may be smaller than requested because memory is short.
    func opened(frameSizes: FrameSizeLadder?, size: FrameSize) { controller.opened(frameSizes: frameSizes, size: size) }

    /// The encoder continues with this size. A size requested meanwhile is void.
    func sizeRefused(keeping size: FrameSize) {
        controller.sizeRefused(keeping: size)
        control.perform([], resize: resizedEncoder?(controller.operatingPoint))
    }

    /// The stream was restarted for a size that the hardware cannot encode. It must restart once more in this size.
    /// - Returns: the point to continue at.
    func sizeNotOpened(goingBackTo size: FrameSize) -> OperatingPoint {
        controller.sizeRefused(keeping: size)
        return restarting()
    }

    /// The stream restarts although the controller did not request it.
    /// - Returns: the point to continue at.
    func restarting() -> OperatingPoint {
        isRestarting = true
        return controller.operatingPoint
    }

    /// The stream could not restart, so the present encoders follow the controller.
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
                queue?.discardWaitingVideo()
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

    /// If nothing at all is acknowledged, the server cannot be reached, and the uplink's capacity is unknown.
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
