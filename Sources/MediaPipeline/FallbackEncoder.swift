import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality

/// The video encoder of a stream: the hardware's while it works, else software. Does what `EncoderLadder` says, on
/// the video thread; the connection notices nothing but a keyframe. The hardware has a thread of its own, is closed and
/// opened there, and while it is tried again after a failure software goes on.
public final class StreamVideoEncoder: VideoEncoder {
    /// How the hardware begins.
    public enum Opening {
        /// It is waited for.
        case now
        /// It opens while frames come already: where another encoder was a moment ago.
        case meanwhile
        /// It did not open just now: software begins, and the hardware is tried again later.
        case failed(any EncoderFailure)
    }

    /// What opens the hardware, on its thread: for the configuration as it is by then, and frames in a layout and a memory.
    public typealias HardwareOpening =
        @Sendable (VideoEncoderConfiguration, FrameLayout, FrameMemoryKind) throws -> any PolledVideoEncoder

    public private(set) var configuration: VideoEncoderConfiguration
    private let path: String
    private let layout: FrameLayout
    private let memoryKind: FrameMemoryKind
    private let openHardware: HardwareOpening
    private let inUse: EncoderInUse
    private let output: VideoOutput
    private let reports: Mailbox<TrackReport>
    private var hardware: Hardware?
    private var software: (encoder: SoftwareFallback, source: VideoOutput.Source)?
    private var scaling: FrameScaling
    private var ladder: EncoderLadder
    /// The newest frame that software has had.
    private var lastSoftwareTime: MediaTimestamp?
    private var earlierConversions = 0

    /// The hardware's thread, and what of its doings the ladder has been told.
    private struct Hardware {
        let thread: EncoderThread
        let source: VideoOutput.Source
        var isOpenTold = false
        var isFailureTold = false
        var isClosing = false
        var encodedTold = 0
        var faultsTold = 0
    }

    /// - Parameters:
    ///   - path: of the hardware's node.
    ///   - layout, memoryKind: of the frames to come.
    /// - Throws: what opening the hardware threw; a `StreamFailure` when software does not open either.
    public init(
        path: String, configuration: VideoEncoderConfiguration, layout: FrameLayout,
        memoryKind: FrameMemoryKind, inUse: EncoderInUse, output: VideoOutput, reports: Mailbox<TrackReport>,
        opening: Opening, openHardware: @escaping HardwareOpening
    ) throws {
        self.path = path
        self.configuration = configuration
        self.layout = layout
        self.memoryKind = memoryKind
        self.openHardware = openHardware
        self.inUse = inUse
        self.output = output
        self.reports = reports
        scaling = FrameScaling(to: configuration.size)
        let now = MonotonicClock.now()
        switch opening {
        case .now:
            ladder = EncoderLadder()
            try startHardware()
            try hardware?.thread.waitUntilOpen()
            hardware?.isOpenTold = true
            useHardware()
        case .meanwhile:
            ladder = EncoderLadder(opening: now)
            try startHardware()
        case .failed(let error):
            ladder = EncoderLadder()
            try perform(ladder.openingFailed(reason: "\(error)", isDead: error.mayBeDeadFirmware, now: now))
        }
    }

    // The thread keeps the encoder until it is told to close it.
    deinit { hardware?.thread.close() }

    /// - Throws: when there is no thread for it.
    private func startHardware() throws {
        let source = output.makeSource()
        // Frames of another size are scaled first, and come in the scaler's layout then.
        let isAsIs = layout.size == configuration.size
        let given = isAsIs ? layout : FrameLayout(packed: .i420, size: configuration.size)
        let (configuration, kind, open) = (configuration, isAsIs ? memoryKind : .pooled, openHardware)
        let thread = try EncoderThread(path: path, output: source.output) {
            try open(configuration, given, kind)
        }
        hardware = Hardware(thread: thread, source: source)
    }

    private func useHardware(after time: MediaTimestamp? = nil) {
        guard let hardware else { return }
        output.listen(to: hardware.source, after: time)
        inUse.name = "v4l2:\(path)"
    }

    public var pendingFrameCount: Int { ladder.usesSoftware ? 0 : hardware?.thread.pendingFrameCount ?? 0 }

    public var conversionCount: Int {
        earlierConversions + scaling.passCount + (hardware?.thread.conversionCount ?? 0)
            + (software?.encoder.conversionCount ?? 0)
    }

    public func submit(_ frame: CapturedFrame) throws {
        try watchHardware()
        try perform(ladder.frameSubmitted(now: MonotonicClock.now()))
        if let software {
            lastSoftwareTime = frame.captureTime
            do {
                software.source.output(try software.encoder.encode(frame))
            } catch {
                try perform(ladder.softwareFailed(reason: "\(error)"))
            }
        }
        guard ladder.feedsHardware, let hardware else { return }
        if output.takeKeyFrameWish() { hardware.thread.requestKeyFrame() }
        do {
            let isAsIs = layout.size == configuration.size && frame.layout.format.isPlanar
            hardware.thread.submit(isAsIs ? frame : try scaling.scale(frame))
        } catch {
            try perform(ladder.hardwareFailed(reason: "\(error)", now: MonotonicClock.now()))
        }
    }

    /// Tells the ladder what has become of the hardware since the last frame.
    private func watchHardware() throws {
        guard let thread = hardware?.thread else { return }
        let now = MonotonicClock.now()
        if hardware?.isClosing == true {
            guard thread.hasEnded else { return }
            forgetHardware()
            return try perform(ladder.hardwareClosed(now: now))
        }
        for note in thread.takeNotes() { reports.send(.encoderNote("\(path): \(note)")) }
        if case .failed(let error) = thread.progress { return try hardwareFailed(error, now: now) }
        if case .open = thread.progress, hardware?.isOpenTold == false {
            hardware?.isOpenTold = true
            if !ladder.usesSoftware { useHardware() }
            try perform(ladder.hardwareOpened(now: now))
        }
        if let since = thread.blockedSince(now: now) { try perform(ladder.callBlocked(since: since, now: now)) }
        try watchOutput(of: thread, now: now)
    }

    private func watchOutput(of thread: EncoderThread, now: MediaTimestamp) throws {
        let (encoded, faults) = (thread.encodedFrameCount, thread.faultCount)
        if let told = hardware?.faultsTold, faults > told {
            hardware?.faultsTold = faults
            for _ in told..<faults { try perform(ladder.frameFailed(now: now)) }
        }
        guard let told = hardware?.encodedTold, encoded > told else { return }
        hardware?.encodedTold = encoded
        try perform(ladder.hardwareEncoded(now: now))
    }

    private func hardwareFailed(_ error: any Error, now: MediaTimestamp) throws {
        guard hardware?.isFailureTold == false else { return }
        hardware?.isFailureTold = true
        guard hardware?.isOpenTold == false else {
            return try perform(ladder.hardwareFailed(reason: "\(error)", now: now))
        }
        let isDead = (error as? any EncoderFailure)?.mayBeDeadFirmware ?? false
        try perform(ladder.openingFailed(reason: "\(error)", isDead: isDead, now: now))
    }

    private func perform(_ actions: [EncoderLadder.Action]) throws {
        for action in actions {
            switch action {
            case .forceKeyFrame: hardware?.thread.requestKeyFrame()
            case .closeHardware:
                hardware?.isClosing = true
                closeHardware()
                // Nothing was opened: there is nothing to wait for.
                if hardware == nil { try perform(ladder.hardwareClosed(now: MonotonicClock.now())) }
            case .openHardware: try openHardwareAgain()
            case .openSoftware: guard try openSoftware() else { return }
            case .crossToHardware: cross()
            case .emit(.failed): break
            case .emit(let event): reports.send(.encoder(event))
            case .giveUp(let reason):
                throw StreamFailure(
                    .videoEncodingFailed, needsMachineRestart: true, reason)
            }
        }
    }

    private func openHardwareAgain() throws {
        forgetHardware()
        do {
            try startHardware()
        } catch {
            try perform(ladder.openingFailed(reason: "\(error)", isDead: false, now: MonotonicClock.now()))
        }
    }

    /// Frames that are inside have been left out from here on: none of them is to come out after all.
    private func closeHardware() {
        guard let hardware else { return }
        output.ignore(hardware.source)
        hardware.thread.close()
    }

    private func forgetHardware() {
        closeHardware()
        earlierConversions += hardware?.thread.conversionCount ?? 0
        hardware = nil
    }

    /// - Returns: false when it did not open, and what follows from that is done.
    private func openSoftware() throws -> Bool {
        guard software == nil else { return true }
        do {
            let source = output.makeSource()
            software = (try SoftwareFallback(configuration), source)
            output.listen(to: source)
            inUse.name = EncoderInUse.software
            return true
        } catch {
            try perform(ladder.softwareFailed(reason: "\(error)"))
            return false
        }
    }

    /// Frames that software has given are not given twice; the hardware goes on behind them, with a keyframe.
    private func cross() {
        earlierConversions += software?.encoder.conversionCount ?? 0
        software = nil
        useHardware(after: lastSoftwareTime)
        hardware?.thread.requestKeyFrame()
    }

    public func finish() throws {
        if !ladder.usesSoftware { hardware?.thread.finish() }
        forgetHardware()
        earlierConversions += software?.encoder.conversionCount ?? 0
        software = nil
    }

    public func requestKeyFrame() {
        hardware?.thread.requestKeyFrame()
        software?.encoder.requestKeyFrame()
    }

    public func setBitrate(_ bitrate: Bitrate) throws {
        configuration.bitrate = bitrate
        hardware?.thread.setBitrate(bitrate)
        do {
            try software?.encoder.setBitrate(bitrate)
        } catch {
            try perform(ladder.softwareFailed(reason: "\(error)"))
        }
    }

    public func setFrameRate(_ frameRate: FrameRate, keyFrameInterval: Int) throws {
        configuration.frameRate = frameRate
        configuration.keyFrameInterval = keyFrameInterval
        hardware?.thread.setFrameRate(frameRate, keyFrameInterval: keyFrameInterval)
        do {
            try software?.encoder.setFrameRate(frameRate, keyFrameInterval: keyFrameInterval)
        } catch {
            try perform(ladder.softwareFailed(reason: "\(error)"))
        }
    }
}

/// Frames of another size than the stream's, scaled into memory that is used again and again.
private struct FrameScaling {
    private let size: PictureSize
    private var scaler: PictureScaler?
    private var pool = FramePool(byteCount: 0)
    private(set) var passCount = 0

    init(to size: PictureSize) { self.size = size }

    mutating func scale(_ frame: CapturedFrame) throws -> CapturedFrame {
        let scaler = try scaler(for: frame.layout)
        let target = pool.take()
        let result = frame.withBytes { bytes in
            target.withMutableBytes { target in
                Result { () throws(VideoEncodingError) in try scaler.scale(bytes, into: target) }
            }
        }
        try result.get()
        passCount += scaler.passCount
        return CapturedFrame(layout: scaler.target, captureTime: frame.captureTime, memory: target)
    }

    private mutating func scaler(for layout: FrameLayout) throws -> PictureScaler {
        if let scaler, scaler.source == layout { return scaler }
        let scaler = try PictureScaler(from: layout, to: size)
        self.scaler = scaler
        pool = FramePool(initial: scaler.target.black)
        return scaler
    }
}
