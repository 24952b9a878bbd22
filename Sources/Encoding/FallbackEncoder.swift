import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic

/// A stream's video encoder: hardware while it works, otherwise software. Carries out the decisions of `EncoderRecovery`
/// on the video thread; the connection only notices a keyframe. The hardware is opened and closed on its own thread. While
/// it is retried after a failure, the software encoder continues.
public final class FallbackEncoder: VideoEncoder {
    /// How the hardware starts.
    public enum Opening {
        /// Wait until it is open.
        case now
        /// Like `now`, but open it once more if it may be stale, because a stream that starts in software stays there
        /// for a minute.
        case persistently
        /// Open it while frames already arrive, because another encoder was there a moment ago.
        case meanwhile
        /// It has just failed to open: start in software, and retry the hardware later.
        case failed(any EncoderFailure)
    }

    /// Opens the hardware on its thread, for the configuration at that time and for frames of this layout and memory kind.
    /// `isProven`: the node has already encoded, so it needs no trial.
    public typealias HardwareOpening =
        @Sendable (VideoEncoderConfiguration, FrameLayout, FrameMemoryKind, _ isProven: Bool) throws
        -> any PolledVideoEncoder

    public internal(set) var configuration: VideoEncoderConfiguration
    let path: String
    /// The source's.
    var frames: SourceFrames
    var layouts: SourceLayouts { frames.layouts }
    /// Layout of the source's frames for this configuration.
    var sourceLayout: FrameLayout
    private let openHardware: HardwareOpening
    let scalingDevice: ScalingDevice?
    let inUse: EncoderInUse
    let output: VideoOutput
    let report: @Sendable (EncoderEvent) -> Void
    var hardware: Hardware?
    var software: (encoder: BudgetedEncoder, source: VideoOutput.Source)?
    var scaling: FrameScaling
    var recovery: EncoderRecovery
    /// The newest frame that the software encoder received.
    var lastSoftwareTime: MediaTimestamp?
    var earlierConversions = 0

    var succession = EncoderSuccession<SourceFrames>(openTimeout: ThreadedEncoder.openTimeout)
    /// Set from the start of opening until it takes over.
    var successor: Successor?
    /// The previous hardware encoder, with the frames that it still holds.
    var retiring: (hardware: Hardware, deadline: MediaTimestamp)?
    /// Size of the newest frames.
    var newestSize: FrameSize

    /// The hardware's thread, and how much of its activity the recovery has been told.
    struct Hardware {
        let thread: ThreadedEncoder
        let source: VideoOutput.Source
        var isOpenReported = false
        var isFailureReported = false
        var isClosing = false
        var encodedReported = 0
        var faultsReported = 0
    }

    /// The hardware that takes over when it is ready.
    struct Successor {
        let hardware: Hardware
        /// Scales the frames to its size.
        var scaling: FrameScaling
        /// Layout of the frames that it will encode.
        let sourceLayout: FrameLayout
    }

    /// - Parameters:
    ///   - path: the hardware's device node.
    ///   - frames: layouts of the frames to come.
    ///   - scalingDevice: scales frames of another size for the hardware.
    /// - Throws: the hardware's error; a `StreamFailure` if the software encoder does not open either.
    public init(
        path: String, configuration: VideoEncoderConfiguration, needs: EncoderNeeds,
        scalingDevice: ScalingDevice? = nil, opening: Opening, openHardware: @escaping HardwareOpening
    ) throws {
        self.path = path
        self.configuration = configuration
        frames = needs.frames
        newestSize = frames.layouts.full.size
        sourceLayout = frames.layouts.nearest(to: configuration.size)
        self.openHardware = openHardware
        inUse = needs.inUse
        output = needs.output
        report = needs.report
        self.scalingDevice = scalingDevice
        scaling = FrameScaling(to: configuration.size, by: scalingDevice)
        let now = MonotonicClock.now()
        switch opening {
        case .now:
            recovery = EncoderRecovery()
            try waitForHardware()
        case .persistently:
            recovery = EncoderRecovery()
            do {
                try waitForHardware()
            } catch let failure as any EncoderFailure where failure.mayBeStale {
                forgetHardware()
                try waitForHardware()
            }
        case .meanwhile:
            recovery = EncoderRecovery(opening: now)
            try startHardware()
        case .failed(let error):
            recovery = EncoderRecovery()
            try perform(recovery.openingFailed(reason: "\(error)", isDead: error.mayBeDeadFirmware, now: now))
        }
    }

    // The threads keep encoder and scaler open until told to close them.
    deinit {
        hardware?.thread.close()
        scaling.close()
        retiring?.hardware.thread.close()
        successor?.hardware.thread.close()
        successor?.scaling.close()
    }

    /// Waits for an earlier thread that is slow to release the node.
    /// - Throws: the error of opening it.
    private func waitForHardware() throws {
        try startHardware()
        try hardware?.thread.waitUntilOpen()
        hardware?.isOpenReported = true
        useHardware()
    }

    /// - Throws: if its thread cannot be started.
    func startHardware() throws {
        hardware = try makeHardware(configuration, from: sourceLayout, of: frames, &scaling)
    }

    /// - Parameters:
    ///   - layout: layout of the frames to come, one of `frames`.
    ///   - scaling: scales them to the configuration's size; its device opens together with the hardware.
    /// - Throws: if its thread cannot be started.
    func makeHardware(
        _ configuration: VideoEncoderConfiguration, from layout: FrameLayout, of frames: SourceFrames,
        _ scaling: inout FrameScaling, isProven: Bool = false
    ) throws -> Hardware {
        let source = output.makeSource(of: frames.colors)
        // Scaled or converted frames have the scaler's layout and memory.
        let (kind, open) = (frames.memoryKind, openHardware)
        let scaled = Self.isTakenAsIs(layout, configuration) ? nil : scaling.start(for: layout, kind)
        do {
            let thread = try ThreadedEncoder(path: path, output: source.output) {
                let given = scaled?() ?? (layout: layout, memory: kind)
                return try open(configuration, given.layout, given.memory, isProven)
            }
            return Hardware(thread: thread, source: source)
        } catch {
            // Its thread is already waiting for frames.
            scaling.close()
            throw error
        }
    }

    /// Whether the hardware accepts frames of this layout unchanged. A returning camera may deliver another layout.
    private static func isTakenAsIs(_ layout: FrameLayout, _ configuration: VideoEncoderConfiguration) -> Bool {
        layout.size == configuration.size && layout.format.isPlanar
    }

    func useHardware(after time: MediaTimestamp? = nil) {
        guard let hardware else { return }
        output.listen(to: hardware.source, after: time)
        inUse.identity = .v4l2(path)
    }

    public var pendingFrameCount: Int {
        (recovery.usesSoftware ? 0 : hardware?.thread.pendingFrameCount ?? 0)
            + (retiring?.hardware.thread.pendingFrameCount ?? 0)
    }

    public var conversionCount: Int {
        earlierConversions + scaling.passCount + (hardware?.thread.conversionCount ?? 0)
            + (software?.encoder.conversionCount ?? 0) + (retiring?.hardware.thread.conversionCount ?? 0)
    }

    public func submit(_ frame: CapturedFrame) throws {
        try watchHardware()
        newestSize = frame.layout.size
        try advanceSuccession()
        let isLeftOver = recovery.feedsHardware && isLeftOver(frame)
        if !isLeftOver { try perform(recovery.frameSubmitted(now: MonotonicClock.now())) }
        if let software {
            lastSoftwareTime = frame.captureTime
            do {
                software.source.output(try software.encoder.encode(frame))
            } catch {
                try perform(recovery.softwareFailed(reason: "\(error)"))
            }
        }
        guard recovery.feedsHardware, !isLeftOver, let hardware else { return }
        if output.takeKeyframeWish() { hardware.thread.requestKeyframe() }
        do {
            let fitting = Self.isTakenAsIs(frame.layout, configuration) ? frame : try scaling.scale(frame)
            if let fitting { hardware.thread.submit(fitting) }
        } catch {
            try perform(recovery.hardwareFailed(reason: "\(error)", now: MonotonicClock.now()))
        }
        if let note = scaling.takeNote() { report(.note(note)) }
    }

    public func finish() throws {
        endSuccession()
        if !recovery.usesSoftware { hardware?.thread.finish() }
        forgetHardware()
        scaling.close()
        earlierConversions += software?.encoder.conversionCount ?? 0
        software = nil
    }

    public func requestKeyframe() {
        hardware?.thread.requestKeyframe()
        software?.encoder.requestKeyframe()
    }

    public func setBitrate(_ bitrate: Bitrate) throws {
        configuration.bitrate = bitrate
        succession.ratesChanged { $0.bitrate = bitrate }
        successor?.hardware.thread.setBitrate(bitrate)
        hardware?.thread.setBitrate(bitrate)
        do {
            try software?.encoder.setBitrate(bitrate)
        } catch {
            try perform(recovery.softwareFailed(reason: "\(error)"))
        }
    }

    public func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws {
        configuration.frameRate = frameRate
        configuration.keyframeInterval = keyframeInterval
        succession.ratesChanged {
            $0.frameRate = frameRate
            $0.keyframeInterval = keyframeInterval
        }
        successor?.hardware.thread.setFrameRate(frameRate, keyframeInterval: keyframeInterval)
        hardware?.thread.setFrameRate(frameRate, keyframeInterval: keyframeInterval)
        do {
            try software?.encoder.setFrameRate(frameRate, keyframeInterval: keyframeInterval)
        } catch {
            try perform(recovery.softwareFailed(reason: "\(error)"))
        }
    }
}
