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

/// Which encoder was asked for.
package enum EncoderChoice: VideoEncoderChoice, Hashable {
    /// The hardware's where there is one, else OpenH264.
    case auto
    /// The hardware's: at this path, or the first that there is.
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

/// Makes a stream's video encoder, by what was chosen and what the machine has.
struct EncoderFactory: VideoEncoderFactory {
    private let choice: EncoderChoice
    private let needs: EncoderNeeds
    private let found = FoundEncoder()
    private let refusals = ImportRefusals()
    private let scaler = FoundScaler()

    /// The hardware that the stream uses, or goes back to; `nil` where software was the plain choice.
    private final class FoundEncoder: Sendable {
        let encoder = Mutex<V4L2EncoderNode?>(nil)
    }

    /// What the hardware cannot read of a camera is not tried again in this stream.
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

    /// What scales a device's frames for the hardware; looked for once.
    private final class FoundScaler: Sendable {
        let device = Mutex<ScalingDevice?>(nil)
    }

    init(choice: EncoderChoice, _ needs: EncoderNeeds) {
        self.choice = choice
        self.needs = needs
    }

    /// How often a chosen hardware encoder is opened again before the stream gives up its start, and after how long.
    private static let retries = (count: 2, pause: Duration.milliseconds(500))

    /// For a stream that starts. Who chose the hardware gets it or an error, and nothing else in its place.
    /// - Parameters:
    ///   - mayShrink: whether a smaller frame can be tried when memory lacks.
    ///   - log: takes what a person should know.
    /// - Throws: the `HardwareEncodingError` of a lack of memory if so; else a `StreamFailure`.
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

    /// For a stream that is live and gets another encoder: it goes on in software when the hardware does not open,
    /// whatever was chosen. The hardware is the one that it started with: a driver that hangs does not answer what it is.
    /// - Throws: a `StreamFailure` when software does not open either.
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

    /// Only frames in a device's memory go through a device; others would have to be copied first.
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
            log("warning: \(error); it is opened again")
            var nothing: [PollEntry] = []
            try poll(&nothing, until: MonotonicClock.now() + Self.retries.pause)
        }
    }

    /// The first hardware encoder that takes the stream. When all of them fail, the stream starts in software, at what
    /// the processor carries, and the hardware is tried again later; one that encoded before and does not answer now
    /// has failed, too. Without any, software is the plain choice.
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

    /// A size and rate that nobody asked for become what the processor carries; those asked for are kept, with a warning.
    private func plainSoftware(
        _ configuration: VideoEncoderConfiguration, _ needs: EncoderNeeds, _ log: (String) -> Void
    ) throws -> any VideoEncoder {
        let carried = SoftwareBudget.ofThisMachine.carried(configuration)
        let isCarried = carried.size == configuration.size && carried.frameRate == configuration.frameRate
        let video = "\(carried.size) at \(carried.frameRate.framesPerSecond) fps"
        guard needs.isVideoChosen else {
            if !isCarried { log("software encodes what this processor carries: \(video)") }
            needs.inUse.identity = .software
            return try SoftwareVideoEncoder(configuration, needs) { try BudgetedEncoder($0) }
        }
        if !isCarried { log("software may be too slow for the video asked for; this processor carries \(video)") }
        return try software(configuration, needs)
    }

    private func software(
        _ configuration: VideoEncoderConfiguration, _ needs: EncoderNeeds
    ) throws -> any VideoEncoder {
        needs.inUse.identity = .software
        return try SoftwareVideoEncoder(configuration, needs) { try OpenH264Encoder(configuration: $0) }
    }
}
