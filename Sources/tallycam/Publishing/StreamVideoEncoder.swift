import ApplianceLogic
import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality
import Synchronization
import V4L2Devices

/// The video encoder of a stream: the hardware's while it works, else software. Does what `EncoderLadder` says, on
/// the video thread; the connection notices nothing but a key frame. The hardware has a thread of its own.
final class StreamVideoEncoder: VideoEncoder {
    private(set) var configuration: VideoEncoderConfiguration
    private let encoder: HardwareEncoder
    private let layout: FrameLayout
    private let isLent: Bool
    private let inUse: EncoderInUse
    private let reports: Mailbox<TrackReport>
    private var hardware: EncoderThread?
    private var software: SoftwareFallback?
    private var scaler: PictureScaler?
    /// Of scaled pictures.
    private var pool = FramePool(byteCount: 0)
    private var scalingPasses = 0
    private var ladder = EncoderLadder()
    private var toldFaults = 0
    private var lastHeader: [UInt8]?
    private var earlierSkips = 0
    private var earlierConversions = 0

    /// - Parameters:
    ///   - layout: of the pictures to come.
    ///   - isLent: whether they come in a camera's memory.
    ///   - openingFailure: why the hardware did not open just now: the stream begins in software then, and the
    ///     hardware is tried again later. `nil` opens the hardware.
    /// - Throws: what opening the hardware threw; a `StreamFailure` when software does not open either.
    init(
        _ encoder: HardwareEncoder, configuration: VideoEncoderConfiguration, layout: FrameLayout, isLent: Bool,
        inUse: EncoderInUse, reports: Mailbox<TrackReport>, openingFailure: String? = nil
    ) throws {
        self.encoder = encoder
        self.configuration = configuration
        self.layout = layout
        self.isLent = isLent
        self.inUse = inUse
        self.reports = reports
        if let openingFailure {
            try perform(ladder.openingFailed(reason: openingFailure, now: MonotonicClock.now()))
        } else {
            hardware = try Self.open(encoder, configuration, layout, isLent: isLent)
            inUse.name = Self.name(of: encoder)
        }
    }

    // The thread keeps the encoder until it is told to close it.
    deinit { close() }

    private static func name(of encoder: HardwareEncoder) -> String { "v4l2:\(encoder.path)" }

    private static func open(
        _ encoder: HardwareEncoder, _ configuration: VideoEncoderConfiguration, _ layout: FrameLayout, isLent: Bool
    ) throws -> EncoderThread {
        // Pictures of another size are scaled first, and come in the scaler's layout then.
        let given = layout.size == configuration.size ? layout : FrameLayout(packed: .i420, size: configuration.size)
        return try EncoderThread(path: encoder.path) {
            try V4L2H264Encoder(encoder, configuration: configuration, layout: given, isLent: isLent)
        }
    }

    var skippedFrameCount: Int {
        earlierSkips + (hardware?.skippedFrameCount ?? 0) + (software?.skippedFrameCount ?? 0)
    }

    var conversionCount: Int {
        scalingPasses + earlierConversions + (hardware?.conversionCount ?? 0) + (software?.conversionCount ?? 0)
    }

    func encode(_ frame: consuming CapturedFrame) throws -> [EncodedPacket] {
        // The frame in its parts: the optimizer of Swift 6.0 fails on a consumed value in a `do` that is caught.
        let layout = frame.layout
        let time = frame.captureTime
        let memory = frame.takeMemory()
        let now = MonotonicClock.now()
        if let since = hardware?.blockedSince(now: now) {
            try perform(ladder.callBlocked(since: since, now: now))
        } else {
            try perform(ladder.pictureSubmitted(now: now))
        }
        switch attempt(layout, time, memory) {
        case .success(let packets):
            try watch(packets)
            return withoutKnownHeaders(packets)
        case .failure(let error):
            // The picture is lost; the encoder that follows begins with a key frame.
            earlierSkips += 1
            try perform(ladder.encoderFailed(reason: "\(error)", now: MonotonicClock.now()))
            return []
        }
    }

    private func attempt(
        _ layout: FrameLayout, _ time: MediaTimestamp, _ memory: any FrameMemory
    ) -> Result<[EncodedPacket], any Error> {
        Result {
            if let software {
                return try software.encode(CapturedFrame(layout: layout, captureTime: time, memory: memory))
            }
            guard let hardware else { return [] }
            if layout.size == configuration.size, layout.format.isPlanar {
                return try hardware.encode(CapturedFrame(layout: layout, captureTime: time, memory: memory))
            }
            return try hardware.encode(scaled(layout, time, memory))
        }
    }

    private func scaled(
        _ layout: FrameLayout, _ time: MediaTimestamp, _ memory: any FrameMemory
    ) throws -> CapturedFrame {
        let scaler = try scaler(for: layout)
        let picture = pool.take()
        let result = memory.withBytes { bytes in
            picture.withMutableBytes { target in
                Result { () throws(VideoEncodingError) in try scaler.scale(bytes, into: target) }
            }
        }
        try result.get()
        scalingPasses += scaler.passCount
        return CapturedFrame(layout: scaler.target, captureTime: time, memory: picture)
    }

    private func scaler(for layout: FrameLayout) throws -> PictureScaler {
        if let scaler, scaler.source == layout { return scaler }
        let scaler = try PictureScaler(from: layout, to: configuration.size)
        self.scaler = scaler
        pool = FramePool(initial: scaler.target.black)
        return scaler
    }

    private func watch(_ packets: [EncodedPacket]) throws {
        let now = MonotonicClock.now()
        if let hardware, hardware.faultCount > toldFaults {
            toldFaults = hardware.faultCount
            try perform(ladder.pictureFailed(now: now))
        }
        for packet in packets where packet.kind != .videoHeader {
            try perform(ladder.pictureEncoded(now: now))
        }
    }

    private func withoutKnownHeaders(_ packets: [EncodedPacket]) -> [EncodedPacket] {
        packets.filter { packet in
            guard packet.kind == .videoHeader else { return true }
            defer { lastHeader = packet.payload }
            return packet.payload != lastHeader
        }
    }

    private func perform(_ actions: [EncoderLadder.Action]) throws {
        for action in actions {
            switch action {
            case .forceKeyFrame: requestKeyFrame()
            // What would have been told of it is void when it fails: software's words are.
            case .reopenHardware: guard try reopen() else { return }
            case .openSoftware: try openSoftware()
            case .emit(.failed): break
            case .emit(let event): reports.send(.encoder(event))
            case .giveUp(let reason):
                throw StreamFailure(
                    .videoEncodingFailed, needsMachineRestart: true, reason)
            }
        }
    }

    private func close() {
        hardware?.close()
        earlierSkips += (hardware?.skippedFrameCount ?? 0) + (software?.skippedFrameCount ?? 0)
        earlierConversions += (hardware?.conversionCount ?? 0) + (software?.conversionCount ?? 0)
        hardware = nil
        software = nil
        toldFaults = 0
    }

    /// - Returns: false when it did not open, and what follows from that is done.
    private func reopen() throws -> Bool {
        close()
        do {
            hardware = try Self.open(encoder, configuration, layout, isLent: isLent)
            inUse.name = Self.name(of: encoder)
            return true
        } catch {
            try perform(ladder.openingFailed(reason: "\(error)", now: MonotonicClock.now()))
            return false
        }
    }

    private func openSoftware() throws {
        close()
        do {
            software = try SoftwareFallback(configuration)
            inUse.name = EncoderInUse.software
        } catch {
            try perform(ladder.encoderFailed(reason: "\(error)", now: MonotonicClock.now()))
        }
    }

    func finish() throws -> [EncodedPacket] {
        defer { close() }
        return withoutKnownHeaders(hardware?.finish() ?? [])
    }

    func requestKeyFrame() {
        hardware?.requestKeyFrame()
        software?.requestKeyFrame()
    }

    func setBitrate(_ bitrate: Bitrate) throws {
        configuration.bitrate = bitrate
        hardware?.setBitrate(bitrate)
        do {
            try software?.setBitrate(bitrate)
        } catch {
            try perform(ladder.encoderFailed(reason: "\(error)", now: MonotonicClock.now()))
        }
    }

    func setFrameRate(_ frameRate: FrameRate, keyFrameInterval: Int) throws {
        configuration.frameRate = frameRate
        configuration.keyFrameInterval = keyFrameInterval
        hardware?.setFrameRate(frameRate, keyFrameInterval: keyFrameInterval)
        do {
            try software?.setFrameRate(frameRate, keyFrameInterval: keyFrameInterval)
        } catch {
            try perform(ladder.encoderFailed(reason: "\(error)", now: MonotonicClock.now()))
        }
    }
}

/// The name of the encoder that works now, for status reports. The video thread writes, the main thread reads.
final class EncoderInUse: Sendable {
    static let software = "openh264"
    private let current = Mutex(EncoderInUse.software)
    private let found = Mutex<HardwareEncoder?>(nil)

    /// The one that the stream uses, or goes back to; `nil` where software was the plain choice.
    var hardware: HardwareEncoder? {
        get { found.withLock { $0 } }
        set { found.withLock { $0 = newValue } }
    }

    var name: String {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
