import DevicePorts
import Media
import SoftwareEncoding
import StreamQuality

/// OpenH264 in place of the hardware encoder. Lowers the frame rate and size if the processor cannot keep up with the
/// stream's own; the bit rate stays.
public final class BudgetedEncoder: ImmediateEncoder {
    private let encoder: OpenH264Encoder
    private let budget: SoftwareBudget
    private var pacer: FramePacer

    public var conversionCount: Int { encoder.conversionCount }

    public init(_ configuration: VideoEncoderConfiguration, budget: SoftwareBudget = .ofThisMachine) throws {
        self.budget = budget
        let carried = budget.carried(configuration)
        encoder = try OpenH264Encoder(configuration: carried)
        pacer = FramePacer(source: configuration.frameRate, wanted: carried.frameRate)
    }

    /// Frames beyond the processor's capacity are dropped.
    public func encode(_ frame: CapturedFrame) throws -> [EncodedPacket] {
        guard pacer.frameCaptured(at: frame.captureTime) else { return [] }
        return try encoder.encode(frame)
    }

    public func requestKeyframe() { encoder.requestKeyframe() }

    public func setBitrate(_ bitrate: Bitrate) throws { try encoder.setBitrate(bitrate) }

    public func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws {
        let carried = budget.frameRate(for: encoder.configuration.size, atMost: frameRate)
        try encoder.setFrameRate(
            carried, keyframeInterval: SoftwareBudget.interval(keyframeInterval, at: frameRate, convertedTo: carried))
        pacer = FramePacer(source: frameRate, wanted: carried)
    }
}

/// An encoder that returns its packets from the call.
public protocol ImmediateEncoder: AnyObject {
    /// - Returns: packets in decode order; empty if the encoder skipped the frame. A new `videoHeader` comes first.
    func encode(_ frame: CapturedFrame) throws -> [EncodedPacket]
    func requestKeyframe()
    func setBitrate(_ bitrate: Bitrate) throws
    func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws
    var conversionCount: Int { get }
}

extension OpenH264Encoder: ImmediateEncoder {}

/// The software encoder as a stream's regular choice. Runs on the video thread.
public final class SoftwareVideoEncoder: VideoEncoder {
    private var encoder: any ImmediateEncoder
    private let make: (VideoEncoderConfiguration) throws -> any ImmediateEncoder
    private let output: VideoOutput
    private var source: VideoOutput.Source
    private var frames: SourceFrames
    private var configuration: VideoEncoderConfiguration
    /// Processor passes over frames by earlier encoders.
    private var earlierConversions = 0

    /// - Parameter make: opens the encoder, now and for each new size.
    public init(
        _ configuration: VideoEncoderConfiguration, _ needs: EncoderNeeds,
        make: @escaping (VideoEncoderConfiguration) throws -> any ImmediateEncoder
    ) throws {
        encoder = try make(configuration)
        self.make = make
        frames = needs.frames
        self.configuration = configuration
        output = needs.output
        source = output.makeSource(of: frames.colors)
        output.listen(to: source)
    }

    public let pendingFrameCount = 0
    public var sourceSize: FrameSize { frames.layouts.nearest(to: configuration.size).size }
    public var conversionCount: Int { earlierConversions + encoder.conversionCount }

    public func resize(to configuration: VideoEncoderConfiguration) throws {
        guard configuration.size != self.configuration.size else {
            try setFrameRate(configuration.frameRate, keyframeInterval: configuration.keyframeInterval)
            return try setBitrate(configuration.bitrate)
        }
        let successor = try make(configuration)
        earlierConversions += encoder.conversionCount
        encoder = successor
        self.configuration = configuration
    }

    /// It converts frames of any layout.
    public func prepare(for frames: SourceFrames) -> SourcePreparation {
        .ready(frames.layouts.nearest(to: configuration.size).size)
    }

    public func dropPreparation() {}

    public func sourceChanges(to frames: SourceFrames) {
        self.frames = frames
        // Its header may describe other colors. If it does not open, the present encoder stays.
        guard let successor = try? make(configuration) else { return encoder.requestKeyframe() }
        earlierConversions += encoder.conversionCount
        encoder = successor
        source = output.makeSource(of: frames.colors)
        output.listen(to: source)
    }

    public func submit(_ frame: CapturedFrame) throws { source.output(try encoder.encode(frame)) }
    public func finish() {}
    public func requestKeyframe() { encoder.requestKeyframe() }

    public func setBitrate(_ bitrate: Bitrate) throws {
        try encoder.setBitrate(bitrate)
        configuration.bitrate = bitrate
    }

    public func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws {
        try encoder.setFrameRate(frameRate, keyframeInterval: keyframeInterval)
        configuration.frameRate = frameRate
        configuration.keyframeInterval = keyframeInterval
    }
}

/// The most that this processor can encode in software while it also captures and sends.
public struct SoftwareBudget: Hashable, Sendable {
    let macroblocksPerSecond: Int

    #if arch(arm64)
        // One core of a Zero 2 W: 640x480 at 15 frames per second.
        public static let ofThisMachine = SoftwareBudget(macroblocksPerSecond: 18_000)
    #else
        public static let ofThisMachine = SoftwareBudget(macroblocksPerSecond: 108_000)
    #endif

    /// Below this frame rate, the frame is made smaller instead.
    private static let leastFrameRate = 15

    func frameRate(for size: FrameSize, atMost wanted: FrameRate) -> FrameRate {
        min(wanted, FrameRate(framesPerSecond: macroblocksPerSecond / max(1, size.macroblocks)))
    }

    /// Fewer frames first, then smaller ones of the same aspect.
    public func carried(_ configuration: VideoEncoderConfiguration) -> VideoEncoderConfiguration {
        var carried = configuration
        let least = min(configuration.frameRate.framesPerSecond, Self.leastFrameRate)
        while carried.size.macroblocks * least > macroblocksPerSecond, carried.size.width >= 64 {
            carried.size = FrameSize(width: carried.size.width / 32 * 16, height: carried.size.height / 32 * 16)
        }
        carried.frameRate = frameRate(for: carried.size, atMost: configuration.frameRate)
        carried.keyframeInterval = Self.interval(
            configuration.keyframeInterval, at: configuration.frameRate, convertedTo: carried.frameRate)
        return carried
    }

    /// The same time between keyframes, counted in frames of another rate.
    static func interval(_ frames: Int, at frameRate: FrameRate, convertedTo carried: FrameRate) -> Int {
        max(1, frames * carried.framesPerSecond / max(1, frameRate.framesPerSecond))
    }
}
