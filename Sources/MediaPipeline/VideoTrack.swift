import Controls
import DevicePorts
import Encoding
import FrameFiltering
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality
import VideoCapture

/// The video's source and encoder, opened and matched to each other.
public struct VideoTrack {
    let source: AdjustedSource
    let encoder: any VideoEncoder
    let output: VideoOutput
    /// Creates another encoder for a restarting stream. Used on the video thread.
    let makeEncoder: @Sendable (VideoEncoderConfiguration, SourceFrames) throws -> any VideoEncoder
    let configuration: VideoEncoderConfiguration
    let encoderInUse: EncoderInUse
    let keyframes: KeyframeSpacing
    let pacer: FramePacer
    /// The initial filters.
    let filters: LoadedFilters

    /// - Parameters:
    ///   - settings: get a smaller size if the encoder lacks memory for the requested one.
    ///   - point: the stream's start.
    ///   - maximum: the highest allowed bit rate.
    init?(
        settings: inout MediaSettings, point: OperatingPoint, maximum: Bitrate, context: StreamContext
    ) throws {
        let (reporter, reports) = (context.reporter, context.reports)
        let output = Self.output(settings, context)
        if settings.dimension.isRounded {
            reporter.log("the size \(settings.dimension.requestedSize) is rounded to \(settings.dimension.size)")
        }
        let asked = settings.dimension
        func source() throws -> AdjustedSource? {
            try Self.source(settings, stop: context.stop, requests: context.requests, reports: reports)
        }
        var opened = Opened(try source())
        var mayShrink = true
        while opened.encoder == nil, opened.source != nil {
            do {
                try opened.openEncoder(
                    settings, point: point, maximum: maximum, mayShrink: mayShrink, output: output, reports: reports,
                    reporter: reporter)
            } catch let lack as any EncoderFailure {
                mayShrink = try settings.fit(after: lack, asked: asked, point: point, maximum: maximum)
                reporter.log("warning: \(lack); the frame size is \(settings.dimension.size) now")
                if settings.video.isCamera {
                    // A smaller source also leaves more memory; free the larger buffers first.
                    opened.source = nil
                    opened.source = try source()
                }
            }
        }
        guard let source = opened.source, let encoder = opened.encoder, let factory = opened.factory,
            let configuration = opened.configuration
        else { return nil }
        self.source = source
        self.configuration = configuration
        self.encoder = encoder
        self.output = output
        keyframes = settings.keyframes
        filters = settings.filters
        makeEncoder = { configuration, frames in try factory.makeWhileLive(configuration, for: frames) }
        encoderInUse = opened.inUse
        pacer = FramePacer(source: source.frameRate, wanted: configuration.frameRate)
        Self.warn(of: source, settings, reporter)
        Self.setControls(of: source, settings.controls, reporter)
    }

    private static func output(_ settings: MediaSettings, _ context: StreamContext) -> VideoOutput {
        VideoOutput(
            hub: context.hub, counters: context.counters, timecode: settings.hasTimecode ? .kernel : nil
        ) { [reports = context.reports] in reports.send(.encoder($0)) }
    }

    /// A control that the camera lacks does not prevent streaming.
    static func setControls(of source: AdjustedSource, _ controls: [ControlChange], _ reporter: EventSink) {
        source.keepForOthers(controls)
        func apply(_ changes: [ControlChange]) {
            for change in changes {
                do throws(ControlError) {
                    try source.controlOffers.check([change])
                    try source.apply([change])
                } catch {
                    reporter.log("warning: \(error)")
                }
            }
        }
        // Points and areas refer to the view, so set the view first.
        apply(controls.filter(\.name.isOfView))
        source.settleZoom()
        apply(controls.filter { !$0.name.isOfView })
    }

    /// What has been opened so far.
    private struct Opened {
        var source: AdjustedSource?
        var encoder: (any VideoEncoder)?
        var factory: (any VideoEncoderFactory)?
        var configuration: VideoEncoderConfiguration?
        let inUse = EncoderInUse()

        init(_ source: AdjustedSource?) { self.source = source }

        mutating func openEncoder(
            _ settings: MediaSettings, point: OperatingPoint, maximum: Bitrate, mayShrink: Bool, output: VideoOutput,
            reports: Mailbox<TrackEvent>, reporter: EventSink
        ) throws {
            guard let source else { return }
            let configuration = try VideoTrack.configuration(
                settings, point: point, maximum: maximum, sourceRate: source.frameRate)
            let factory = settings.encoder.factory(
                for: EncoderNeeds(
                    frames: source.frames, maySwitchCameras: settings.cameras.count > 1,
                    isVideoChosen: settings.isVideoChosen, inUse: inUse, output: output
                ) { reports.send(.encoder($0)) })
            encoder = try factory.make(configuration, mayShrink: mayShrink) { reporter.log($0) }
            self.factory = factory
            self.configuration = configuration
        }
    }

    private static func warn(of source: any VideoSource, _ settings: MediaSettings, _ reporter: EventSink) {
        let size = settings.dimension.size
        if Letterbox(source.layout.size, into: size).hasBars {
            reporter.log("warning: \(source.layout.size) has another aspect than \(size); black bars fill the rest")
        }
        if source.frameRate < settings.quality.frameRate {
            reporter.log(
                "warning: the source delivers \(source.frameRate.framesPerSecond) fps, \(settings.quality.name) has "
                    + "\(settings.quality.frameRate.framesPerSecond)")
        }
    }

    /// The encoder's configuration for an operating point.
    public static func configuration(
        _ settings: MediaSettings, point: OperatingPoint, maximum: Bitrate, sourceRate: FrameRate,
        stretchesKeyframes: Bool = false
    ) throws -> VideoEncoderConfiguration {
        let frameRate = min(point.frameRate, sourceRate)
        // The best quality that the stream can reach without a restart.
        let isLower = point.videoQuality?.tier == .lowAndMedium && settings.quality.tier == .high
        let best = isLower ? .medium3 : settings.quality
        // Lack of memory may have made the frame smaller than the operating point assumes.
        let full = settings.dimension.size
        let size = point.frameSize.map { $0.pixelCount < full.pixelCount ? $0 : full } ?? full
        return VideoEncoderConfiguration(
            size: size, frameRate: frameRate, bitrate: point.videoBitrate, profile: best.profile,
            level: try level(best, isLower ? best.bitrate : maximum, settings),
            keyframeInterval: settings.keyframes.distance(at: frameRate, isStretched: stretchesKeyframes))
    }

    static func source(
        _ settings: MediaSettings, stop: EventFD, requests: EncoderRequests, reports: Mailbox<TrackEvent>
    ) throws -> AdjustedSource? {
        do {
            guard settings.cameras.isEmpty else {
                let switcher = try CameraSwitcher(settings.switchableCameras, takeWish: requests.takeCamera, stop: stop)
                {
                    reports.send(.video(.source($0)))
                } failed: {
                    reports.send(.video(.cameraSwitchFailed($0, reason: $1)))
                }
                return switcher.map { prepared(AdjustedSource($0, streamSize: settings.dimension.size), settings) }
            }
            guard let source = try opened(settings, stop: stop, reports) else { return nil }
            let rest = source.ownRotation.followed(by: settings.rotation.rest(after: source.flips))
            let rotated = rest.isIdentity ? source : try RotatedSource(source, rest)
            return prepared(AdjustedSource(rotated, streamSize: settings.dimension.size), settings)
        } catch {
            throw StreamFailure(.cameraUnavailable, "\(error)")
        }
    }

    /// The camera's previous user may still hold a frame, so retry for a moment.
    private static let contentionTimeout = Duration.seconds(2)
    private static let retryInterval = Duration.milliseconds(50)

    private static func opened(
        _ settings: MediaSettings, stop: EventFD, _ reports: Mailbox<TrackEvent>
    ) throws -> (any VideoSource)? {
        let deadline = MonotonicClock.now() + contentionTimeout
        while true {
            do {
                return try settings.video.open(settings.sourceWish, stop: stop) { reports.send(.video(.source($0))) }
            } catch let error as any CameraFailure where error.mayBeContention && MonotonicClock.now() < deadline {
                guard !stop.isSignaled(until: MonotonicClock.now() + retryInterval) else { throw error }
            }
        }
    }

    private static func prepared(_ source: AdjustedSource, _ settings: MediaSettings) -> AdjustedSource {
        source.feedsFilters = !FilterPass(settings.filters).isIdle
        // No encoder has seen other frames yet.
        source.showAtOnce()
        return source
    }

    private static func level(
        _ quality: VideoQuality, _ maximum: Bitrate, _ settings: MediaSettings
    ) throws -> H264Level {
        do {
            return try quality.level(for: settings.dimension.size, upTo: maximum)
        } catch {
            throw StreamFailure(.unsupportedResolution, "\(error)")
        }
    }
}

extension MediaSettings {
    /// Opens each of the cameras when it is needed.
    fileprivate var switchableCameras: [SwitchableCamera] {
        cameras.compactMap { [rotation] camera in
            guard let opening = camera.choice.cameraOpening(sourceWish) else { return nil }
            let choice = camera.choice
            return SwitchableCamera(name: camera.name, path: choice.path, isFile: choice.isFile) { stop in
                let camera = try opening(stop)
                let rest = camera.ownRotation.followed(by: rotation.rest(after: camera.flips))
                return rest.isIdentity ? camera : try RotatedCamera(camera, rest)
            }
        }
    }

    /// The next attempt when the hardware encoder lacks memory: smaller frames, and as the last resort software at a rate that
    /// the CPU can handle, until the hardware accepts the requested video.
    /// - Returns: whether even smaller frames can be tried after that.
    fileprivate mutating func fit(
        after lack: any EncoderFailure, asked: VideoDimension, point: OperatingPoint, maximum: Bitrate
    ) throws -> Bool {
        if let smaller = dimension.smaller {
            dimension = smaller
            return true
        }
        guard encoder.mayUseSoftware else {
            throw StreamFailure(.videoEncodingFailed, "\(lack)")
        }
        dimension = asked
        let configuration = try VideoTrack.configuration(
            self, point: point, maximum: maximum, sourceRate: point.frameRate)
        let carried = SoftwareBudget.ofThisMachine.carried(configuration)
        dimension = (try? VideoDimension(carried.size)) ?? dimension
        return false
    }
}
