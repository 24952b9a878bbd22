import DevicePorts
import Encoding
import LinuxIO
import Media
import MediaPipeline
import SoftwareEncoding
import StreamLogic
import Synchronization
import Terminal
import V4L2Devices

/// The requested encoder.
package enum EncoderChoice: VideoEncoderChoice, Hashable {
    /// Hardware if available, otherwise OpenH264.
    case auto
    /// Hardware, at this path or the first one found.
    case v4l2(path: String?)
    case openh264

    package init(parsing text: String) throws {
        switch text {
        case "auto": self = .auto
        case "openh264": self = .openh264
        case "v4l2": self = .v4l2(path: nil)
        default:
            guard text.hasPrefix("v4l2:/"), text.utf8.count > 6 else {
                throw CommandFailure.usage(
                    "--encoder is auto, v4l2, v4l2:/dev/videoN or openh264, not \"\(text)\"")
            }
            self = .v4l2(path: String(text.dropFirst(5)))
        }
    }

    package var mayUseSoftware: Bool { self == .auto }

    package func factory(for needs: EncoderNeeds) -> any VideoEncoderFactory { EncoderFactory(choice: self, needs) }
}

/// Creates a stream's video encoder according to the choice and the machine's hardware.
struct EncoderFactory: VideoEncoderFactory {
    private let choice: EncoderChoice
    private let needs: EncoderNeeds
    private let found = FoundEncoder()
    private let refusals = ImportRefusals()
    private let scaler = FoundScaler()

    /// The hardware that the stream uses or returns to; `nil` if software is the regular choice.
    private final class FoundEncoder: Sendable {
        let encoder = Mutex<V4L2EncoderNode?>(nil)
    }

    /// Remembers, for this stream, which camera memory the hardware cannot read.
    private final class ImportRefusals: Sendable {
        private let byLayout = Mutex<[FrameLayout: ImportRefusal]>([:])

        func of(_ layout: FrameLayout) -> ImportRefusal {
            byLayout.withLock { byLayout in
                let refusal = byLayout[layout] ?? ImportRefusal()
                byLayout[layout] = refusal
                return refusal
            }
        }
    }

    /// The device that scales frames for the hardware; searched for once.
    private final class FoundScaler: Sendable {
        let device = Mutex<ScalingDevice?>(nil)
    }

    init(choice: EncoderChoice, _ needs: EncoderNeeds) {
        self.choice = choice
        self.needs = needs
    }

    /// How often to reopen the chosen hardware encoder before the start fails, and after what pause.
    private static let retries = (count: 2, pause: Duration.milliseconds(500))

    /// For a stream that is starting. If hardware was requested, returns that or fails, without substitute.
    /// - Parameters:
    ///   - mayShrink: whether a smaller frame size may be tried if memory is short.
    ///   - log: receives messages for people.
    /// - Throws: the `HardwareEncodingError` of a lack of memory if `mayShrink` is set; otherwise a `StreamFailure`.
    func make(
        _ configuration: VideoEncoderConfiguration, mayShrink: Bool, log: (String) -> Void
    ) throws -> any VideoEncoder {
        if choice != .openh264 { findScaler() }
        do {
            switch choice {
            case .openh264: return try software(configuration, needs)
            case .v4l2(let path): return try chosen(path, configuration, log)
            case .auto: return try best(configuration, mayShrink: mayShrink, log)
            }
        } catch let error as HardwareEncodingError where mayShrink && error.isLackOfMemory {
            throw error
        } catch let failure as StreamFailure {
            throw failure
        } catch {
            throw Self.failure(error)
        }
    }

    /// For a live stream that needs another encoder. Falls back to software if the hardware does not open, whatever was
    /// requested. Uses the hardware that the stream started with, because a hanging driver cannot identify itself.
    /// - Throws: a `StreamFailure` if software does not open either.
    func makeWhileLive(
        _ configuration: VideoEncoderConfiguration, for frames: SourceFrames
    ) throws -> any VideoEncoder {
        var needs = needs
        needs.frames = frames
        do {
            guard choice != .openh264 else { return try software(configuration, needs) }
            guard let encoder = found.encoder.withLock({ $0 }) else {
                return try plainSoftware(configuration, needs) { _ in }
            }
            return try hardware(encoder, configuration, needs, opening: .meanwhile)
        } catch {
            throw error as? StreamFailure ?? Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> StreamFailure {
        StreamFailure(.videoEncodingFailed, "\(error)")
    }

    /// Only frames in device memory are scaled by a device; others would have to be copied first.
    private func findScaler() {
        guard needs.frames.memoryKind == .dmabuf || needs.maySwitchCameras, scaler.device.withLock({ $0 == nil }) else {
            return
        }
        guard let node = V4L2ScalerNode.first() else { return }
        let device = ScalingDevice(path: node.path) { [found] layout, size in
            guard let encoder = found.encoder.withLock({ $0 }) else { throw HardwareEncodingError.noEncoder }
            return try V4L2Scaler(node, from: layout, to: size, for: encoder)
        }
        scaler.device.withLock { $0 = device }
    }

    private func find(_ path: String?) throws(HardwareEncodingError) -> V4L2EncoderNode {
        if let path { return try V4L2EncoderNode(at: path) }
        var unanswered: HardwareEncodingError?
        let encoders = V4L2EncoderNode.all { error, _ in unanswered = unanswered ?? error }
        guard let encoder = encoders.first else { throw unanswered ?? .noEncoder }
        return encoder
    }

    private func chosen(
        _ path: String?, _ configuration: VideoEncoderConfiguration, _ log: (String) -> Void
    ) throws -> any VideoEncoder {
        var attempt = 0
        while true {
            let outcome = Result { try hardware(find(path), configuration, needs) }
            guard case .failure(let error) = outcome, let error = error as? any EncoderFailure, error.mayPassByItself
            else { return try outcome.get() }
            attempt += 1
            guard attempt <= Self.retries.count else {
                throw StreamFailure(
                    .videoEncodingFailed,
                    "\(error); with --encoder auto the stream would start in software")
            }
            log("warning: \(error); opening it again")
            var nothing: [PollEntry] = []
            try poll(&nothing, until: MonotonicClock.now() + Self.retries.pause)
        }
    }

    /// The first hardware encoder that accepts the stream. If all of them fail, the stream starts in software, at a rate that
    /// the CPU can handle, and the hardware is retried later. A hardware encoder that worked before and does not answer now
    /// counts as failed too. Without any hardware, software is the regular choice.
    private func best(
        _ configuration: VideoEncoderConfiguration, mayShrink: Bool, _ log: (String) -> Void
    ) throws -> any VideoEncoder {
        var failed: (encoder: V4L2EncoderNode, error: any EncoderFailure)?
        let encoders = V4L2EncoderNode.all { error, earlier in
            log("warning: \(error)")
            if let earlier { failed = failed ?? (earlier, error) }
        }
        for encoder in encoders {
            do {
                return try hardware(encoder, configuration, needs, opening: .persistently)
            } catch let error as HardwareEncodingError where mayShrink && error.isLackOfMemory {
                throw error
            } catch let error as any EncoderFailure {
                log("warning: \(error)")
                failed = failed ?? (encoder, error)
            }
        }
        guard let failed else { return try plainSoftware(configuration, needs, log) }
        return try hardware(failed.encoder, configuration, needs, opening: .failed(failed.error))
    }

    private func hardware(
        _ encoder: V4L2EncoderNode, _ configuration: VideoEncoderConfiguration, _ needs: EncoderNeeds,
        opening: FallbackEncoder.Opening = .now
    ) throws -> FallbackEncoder {
        found.encoder.withLock { $0 = encoder }
        return try FallbackEncoder(
            path: encoder.path, configuration: configuration, needs: needs,
            scalingDevice: scaler.device.withLock { $0 }, opening: opening
        ) { [refusals] configuration, layout, memoryKind, isProven in
            try V4L2H264Encoder(
                encoder, configuration: configuration, layout: layout, memoryKind: memoryKind,
                importRefusal: refusals.of(layout), isProven: isProven)
        }
    }

    /// Unrequested sizes and rates are reduced to what the CPU can handle. Requested ones are kept, with a warning.
    private func plainSoftware(
        _ configuration: VideoEncoderConfiguration, _ needs: EncoderNeeds, _ log: (String) -> Void
    ) throws -> any VideoEncoder {
        let carried = SoftwareBudget.ofThisMachine.carried(configuration)
        let isCarried = carried.size == configuration.size && carried.frameRate == configuration.frameRate
        let video = "\(carried.size) at \(carried.frameRate.framesPerSecond) fps"
        guard needs.isVideoChosen else {
            if !isCarried { log("the software encoder is limited to what this processor manages: \(video)") }
            needs.inUse.identity = .software
            return try SoftwareVideoEncoder(configuration, needs) { try BudgetedEncoder($0) }
        }
        if !isCarried { log("the software encoder may be too slow for this video; this processor manages \(video)") }
        return try software(configuration, needs)
    }

    private func software(
        _ configuration: VideoEncoderConfiguration, _ needs: EncoderNeeds
    ) throws -> any VideoEncoder {
        needs.inUse.identity = .software
        return try SoftwareVideoEncoder(configuration, needs) { try OpenH264Encoder(configuration: $0) }
    }
}
