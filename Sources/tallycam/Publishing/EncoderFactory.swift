import ApplianceLogic
import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import V4L2Devices

/// Makes a stream's video encoder, by what was chosen and what the machine has.
struct EncoderFactory: Sendable {
    let choice: MediaOptions.EncoderChoice
    let layout: FrameLayout
    /// Whether pictures come in a camera's memory.
    let isLent: Bool
    /// Whether somebody asked for the size or the quality of the picture: software keeps to them.
    let isPictureChosen: Bool
    let inUse: EncoderInUse
    let reports: Mailbox<TrackReport>

    /// - Parameters:
    ///   - mayShrink: whether a smaller picture can be tried when memory lacks.
    ///   - log: takes what a person should know.
    /// - Throws: the `HardwareEncodingError` of a lack of memory if so; else a `CommandFailure`.
    func make(
        _ configuration: VideoEncoderConfiguration, mayShrink: Bool, log: (String) -> Void
    ) throws -> any VideoEncoder {
        do {
            switch choice {
            case .openh264: return try software(configuration)
            case .v4l2(let path):
                guard let encoder = try path.map({ try HardwareEncoder(at: $0) }) ?? HardwareEncoder.all().first else {
                    throw HardwareEncodingError.noEncoder
                }
                return try hardware(encoder, configuration)
            case .auto: return try best(configuration, mayShrink: mayShrink, log)
            }
        } catch let error as HardwareEncodingError where mayShrink && error.isLackOfMemory {
            throw error
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.media, code: EventCode.videoEncodingFailed.rawValue, "\(error)")
        }
    }

    /// The first hardware encoder that takes the stream. When all of them fail, the stream begins in software, at what
    /// the processor carries, and the hardware is tried again later. Without any, software is the plain choice.
    private func best(
        _ configuration: VideoEncoderConfiguration, mayShrink: Bool, _ log: (String) -> Void
    ) throws -> any VideoEncoder {
        var failed: (encoder: HardwareEncoder, reason: String)?
        for encoder in HardwareEncoder.all() {
            do {
                return try hardware(encoder, configuration)
            } catch let error as HardwareEncodingError where mayShrink && error.isLackOfMemory {
                throw error
            } catch {
                log("warning: \(error)")
                failed = failed ?? (encoder, "\(error)")
            }
        }
        guard let failed else { return try plainSoftware(configuration, log) }
        return try hardware(failed.encoder, configuration, openingFailure: failed.reason)
    }

    private func hardware(
        _ encoder: HardwareEncoder, _ configuration: VideoEncoderConfiguration, openingFailure: String? = nil
    ) throws -> StreamVideoEncoder {
        try StreamVideoEncoder(
            encoder, configuration: configuration, layout: layout, isLent: isLent, inUse: inUse, reports: reports,
            openingFailure: openingFailure)
    }

    /// A picture that nobody asked for is what the processor carries; one that was asked for is kept, with a word.
    private func plainSoftware(
        _ configuration: VideoEncoderConfiguration, _ log: (String) -> Void
    ) throws -> any VideoEncoder {
        let carried = SoftwareBudget.ofThisMachine.carried(configuration)
        let isCarried = carried.size == configuration.size && carried.frameRate == configuration.frameRate
        let picture = "\(carried.size) at \(carried.frameRate.framesPerSecond) fps"
        guard isPictureChosen else {
            if !isCarried { log("software encodes what this processor carries: \(picture)") }
            inUse.name = "openh264"
            return try SoftwareFallback(configuration)
        }
        if !isCarried { log("software may be too slow for the picture asked for; this processor carries \(picture)") }
        return try software(configuration)
    }

    private func software(_ configuration: VideoEncoderConfiguration) throws -> OpenH264Encoder {
        inUse.name = "openh264"
        return try OpenH264Encoder(configuration: configuration)
    }
}
