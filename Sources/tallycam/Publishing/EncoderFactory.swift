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
        } catch {
            throw CommandFailure(.media, code: EventCode.videoEncodingFailed.rawValue, "\(error)")
        }
    }

    /// The first hardware encoder that takes the stream. Without any, software is the plain choice.
    private func best(
        _ configuration: VideoEncoderConfiguration, mayShrink: Bool, _ log: (String) -> Void
    ) throws -> any VideoEncoder {
        for encoder in HardwareEncoder.all() {
            do {
                return try hardware(encoder, configuration)
            } catch let error as HardwareEncodingError where mayShrink && error.isLackOfMemory {
                throw error
            } catch {
                log("warning: \(error)")
                reports.send(.encoder(.softwareEncoderInUse(reason: "\(error)")))
            }
        }
        return try software(configuration)
    }

    private func hardware(
        _ encoder: HardwareEncoder, _ configuration: VideoEncoderConfiguration
    ) throws -> StreamVideoEncoder {
        try StreamVideoEncoder(
            encoder, configuration: configuration, layout: layout, isLent: isLent, inUse: inUse, reports: reports)
    }

    private func software(_ configuration: VideoEncoderConfiguration) throws -> OpenH264Encoder {
        inUse.name = "openh264"
        return try OpenH264Encoder(configuration: configuration)
    }
}
