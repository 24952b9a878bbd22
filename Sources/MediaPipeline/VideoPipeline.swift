import DevicePorts
import Encoding
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality
import VideoCapture

/// Source and encoder: the body of the video thread.
final class VideoPipeline {
    let source: AdjustedSource
    /// The size last requested from the source.
    var sourceSize: FrameSize
    /// The present properties of the source's frames.
    var frames: SourceFrames
    /// Whether the encoder is preparing for the next camera.
    var isPreparing = false
    var encoder: any VideoEncoder
    private let makeEncoder: @Sendable (VideoEncoderConfiguration, SourceFrames) throws -> any VideoEncoder
    private var pacer: FramePacer
    var frameRate: FrameRate
    /// Whether the source's first frame was reported. True from the start for a file or pipe.
    private var hasStarted = false
    /// The level that the stream's header announces.
    private var level: H264Level
    /// The size that the encoder was last configured for.
    private var size: FrameSize
    /// Conversion passes of earlier encoders.
    private var earlierConversions = 0
    let output: VideoOutput
    private let context: StreamContext
    private let liveControls: LiveControls
    private let filters: StreamFilters
    private var paused = PausedVideo()
    private let snapshots: SnapshotTaker
    private let brightness: BrightnessWatch
    private let preview: (any PreviewSink)?
    /// Everyone who watches beside the stream, including the display.
    private let watchers: [any FrameSink]
    private let keyframes: KeyframeSpacing
    /// In frames, as last set on the encoder.
    private var keyframeDistance: Int

    init(
        track: VideoTrack, controls: ControlsInUse, snapshots: SnapshotTaker, brightness: BrightnessWatch,
        preview: (any PreviewSink)?, sinks: [any FrameSink], context: StreamContext
    ) {
        source = track.source
        sourceSize = track.source.layout.size
        frames = track.source.frames
        encoder = track.encoder
        makeEncoder = track.makeEncoder
        pacer = track.pacer
        output = track.output
        keyframes = track.keyframes
        keyframeDistance = track.configuration.keyframeInterval
        frameRate = track.configuration.frameRate
        level = track.configuration.level
        size = track.configuration.size
        liveControls = LiveControls(source, switcher: source.switcher, inUse: controls, reports: context.reports)
        filters = StreamFilters(track.filters, reports: context.reports)
        self.snapshots = snapshots
        self.brightness = brightness
        self.preview = preview
        self.context = context
        watchers = sinks + (preview.map { [$0] } ?? [])
    }

    /// Encodes from the gate's opening until the source ends or a frame is later than the gate's end, then reports the end.
    /// - Parameter isLive: whether unread frames are lost. If so, watchers beside the stream already see them before the gate
    ///   opens.
    func run(behind gate: StartGate, isLive: Bool) {
        defer { for watcher in watchers { watcher.framesEnded() } }
        hasStarted = !isLive
        do {
            if isLive { try show(before: gate) }
            guard gate.waitForStart() else { return context.reports.send(.ended(.video, note: nil)) }
            try encodeAll(from: gate.start, until: gate.end)
            try encoder.finish()
            count()
            context.reports.send(.ended(.video, note: source.endingNote))
        } catch let error as VideoEncodingError {
            context.reports.send(.failed(StreamFailure(.videoEncodingFailed, "\(error)")))
        } catch let failure as StreamFailure {
            context.reports.send(.failed(failure))
        } catch let error as any EncoderFailure {
            context.reports.send(.failed(StreamFailure(.videoEncodingFailed, "\(error)")))
        } catch {
            context.reports.send(.failed(StreamFailure(.cameraUnavailable, "\(error)")))
        }
    }

    /// How often to check whether someone is watching.
    private static let lookInterval = Duration.milliseconds(200)

    /// A server may never answer, but a display or a computer should see video anyway. Once a frame was read, reading
    /// continues, because an unread camera keeps old frames.
    private func show(before gate: StartGate) throws {
        guard !watchers.isEmpty else { return }
        var isReading = false
        while true {
            isReading = isReading || watchers.contains { $0.wantsFrames }
            guard !gate.isPassed(within: isReading ? .zero : Self.lookInterval) else { return }
            guard isReading else { continue }
            guard let frame = try source.nextFrame() else { return }
            reportStart(with: frame)
            let pause = context.requests.pause
            _ = paused.frameCaptured(at: frame.captureTime, takenAt: frame.takenAt, pause, isSent: false)
            let shown = shown(frame, pause)
            for watcher in watchers { watcher.offer(shown, colors: source.colors) }
            context.counters.update { $0.decimatedFrames += 1 }
            // Watchers see what will be sent: zoomed, mirrored and flipped.
            try prepareForNextFrames()
        }
    }

    /// - Parameter timeZero: frames from before are not part of the stream, and later ones must not refer to them.
    private func encodeAll(from timeZero: MediaTimestamp?, until end: MediaTimestamp?) throws {
        source.rates?.selectFrameRate(frameRate)
        while let frame = try source.nextFrame() {
            reportStart(with: frame)
            if let timeZero, frame.captureTime < timeZero {
                context.counters.update { $0.decimatedFrames += 1 }
                continue
            }
            if let seen = brightness.look(at: frame, from: source) { context.reports.send(.video(.brightness(seen))) }
            let start = MonotonicClock.now()
            let isLate = end.map { frame.captureTime >= $0 } ?? false
            let pause = context.requests.pause
            let isOther = try takeCameraChange(with: frame)
            let isFirst = takePauseChange(with: frame, pause) || isOther
            guard !isLate, isFirst || pacer.frameCaptured(at: frame.captureTime) else {
                context.counters.update { $0.decimatedFrames += 1 }
                if isLate { return }
                continue
            }
            // Apply requests before a frame that goes to the encoder, so that related requests start at the same frame.
            try apply(context.requests.takeVideoRequests(at: frame.captureTime), at: frame.captureTime)
            source.feedsFilters = !filters.isIdle
            let shown = shown(frame, pause)
            snapshots.offer(shown, from: source)
            for watcher in watchers { watcher.offer(shown, colors: source.colors) }
            context.counters.update { $0.capturedFrames += 1 }
            try encoder.submit(shown)
            // Filters are idle in a pause, so its timings say nothing about their cost afterwards.
            if !paused.isPaused { filters.frameDone(after: MonotonicClock.now() - start, at: frame.captureTime) }
            try prepareForNextFrames()
            selectSize()
            liveControls.watch()
            count()
        }
    }

    private func reportStart(with frame: CapturedFrame) {
        guard !hasStarted else { return }
        hasStarted = true
        let name = source.switcher?.name ?? source.cameraModel ?? source.origin
        context.reports.send(.video(.source(.started(.camera(name, frame.layout.size, source.frameRate)))))
    }

    /// - Returns: whether a pause starts or ends with this frame.
    private func takePauseChange(with frame: CapturedFrame, _ pause: VideoPause) -> Bool {
        guard paused.frameCaptured(at: frame.captureTime, takenAt: frame.takenAt, pause) else { return false }
        encoder.requestKeyframe()
        pace(at: frameRate, from: frame.captureTime)
        return true
    }

    /// - Returns: the visible frame: the filtered frame, or its replacement during a pause.
    private func shown(_ frame: CapturedFrame, _ pause: VideoPause) -> CapturedFrame {
        let isLast = paused.isLast(frame, pause)
        guard !paused.isPaused || isLast else {
            return paused.replacement(of: frame, streamSize: size, colors: source.colors)
        }
        paused.restore(frame)
        filters.apply(to: frame, colors: source.colors, context.requests.filterStatus)
        if isLast { paused.keep(frame) }
        return frame
    }

    private func apply(_ orders: EncoderRequests.VideoRequests, at time: MediaTimestamp) throws {
        for request in orders.controls { liveControls.apply(request) }
        if let new = orders.filters { filters.use(new) }
        if let configuration = orders.replacement {
            // Finish the old encoder first, since there may be memory for only one. Its last frames are still sent.
            try? encoder.finish()
            earlierConversions += encoder.conversionCount
            encoder = try makeEncoder(configuration, frames)
            output.streamRestarts(epoch: orders.epoch)
            if let dimension = orders.dimension { source.streamSize = dimension }
            level = configuration.level
            size = configuration.size
            keyframeDistance = configuration.keyframeInterval
            pace(at: configuration.frameRate, from: time)
        }
        if let configuration = orders.resize { try resize(to: configuration, at: time) }
        if let setting = orders.setting { try set(setting, at: time) }
        if orders.isKeyframeWanted { encoder.requestKeyframe() }
    }

    /// If the encoder refuses the size, the previous one stays and the stream continues.
    private func resize(to configuration: VideoEncoderConfiguration, at time: MediaTimestamp) throws {
        do {
            try encoder.resize(to: configuration)
            size = configuration.size
            keyframeDistance = configuration.keyframeInterval
            level = configuration.level
            pace(at: configuration.frameRate, from: time)
        } catch {
            // Recovery has given up, and there is no encoder left.
            if error is StreamFailure { throw error }
            context.reports.send(.encoder(.sizeRefused("\(error)", keeping: size)))
        }
    }

    /// If the encoder refuses the setting, the previous one stays and the stream continues.
    private func set(_ setting: EncoderRequests.VideoSetting, at time: MediaTimestamp) throws {
        do {
            let distance = keyframes.distance(at: setting.frameRate, isStretched: setting.stretchesKeyframes)
            if setting.frameRate != frameRate || distance != keyframeDistance {
                try encoder.setFrameRate(setting.frameRate, keyframeInterval: distance)
                keyframeDistance = distance
            }
            if setting.frameRate != frameRate { pace(at: setting.frameRate, from: time) }
            // A correction for an encoder that produces too little must not exceed the stream's announced level.
            try encoder.setBitrate(min(setting.bitrate, level.largestBitrate))
        } catch {
            // Recovery has given up, and there is no encoder left.
            if error is StreamFailure { throw error }
            context.reports.send(.encoder(.settingRefused("\(error)")))
        }
    }

    func pace(at rate: FrameRate, from time: MediaTimestamp) {
        frameRate = rate
        source.rates?.selectFrameRate(rate)
        // Frames already requested from the camera still arrive at the previous rate.
        pacer = FramePacer(source: source.frameRate, wanted: rate)
        _ = pacer.frameCaptured(at: time)
    }

    /// Frames that were submitted, are not inside the encoder, and never came out were skipped by it. A frame on its way out is
    /// counted in both places rather than in none, so the count never decreases.
    private func count() {
        let pending = encoder.pendingFrameCount
        let converted = earlierConversions + encoder.conversionCount
        let (statistics, readings) = (source.statistics, filters.readings)
        context.counters.update { counters in
            counters.conversions = converted
            counters.videoSource = statistics
            counters.preview = preview?.statistics
            counters.filters = readings
            counters.skippedFrames = max(
                counters.skippedFrames, counters.capturedFrames - counters.encodedFrames - pending)
        }
    }
}
