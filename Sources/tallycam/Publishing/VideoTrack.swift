import DevicePorts
import LinuxIO
import Media
import RTMP
import SoftwareEncoding
import StreamQuality

/// The picture's source and encoder, opened and fitted to each other.
struct VideoTrack {
    let source: any VideoSource
    let encoder: any VideoEncoder
    let metadata: StreamMetadata.Video
    let pacer: FramePacer

    init?(options: MediaOptions, stop: EventFD, reports: Mailbox<TrackReport>, console: Console) throws {
        guard let source = try Self.source(options, stop: stop, reports: reports) else { return nil }
        let size = options.dimension.size
        if options.dimension.isRounded {
            console.log("the size \(options.dimension.requestedSize) is rounded to \(size)")
        }
        if PictureFit(source.layout.size, into: size).hasBars {
            console.log("warning: \(source.layout.size) has another aspect than \(size); black bars fill the rest")
        }
        let frameRate = min(options.quality.frameRate, source.frameRate)
        if frameRate < options.quality.frameRate {
            console.log(
                "warning: the source gives \(frameRate.framesPerSecond) fps, \(options.quality.name) has "
                    + "\(options.quality.frameRate.framesPerSecond)")
        }
        let configuration = VideoEncoderConfiguration(
            size: size, frameRate: frameRate, bitrate: options.quality.bitrate, profile: options.quality.profile,
            level: try Self.level(options), keyFrameInterval: 2 * frameRate.framesPerSecond)
        self.source = source
        encoder = try Self.encoder(configuration)
        metadata = StreamMetadata.Video(size: size, frameRate: frameRate, bitrate: options.quality.bitrate)
        pacer = FramePacer(source: source.frameRate, wanted: frameRate)
    }

    private static func source(
        _ options: MediaOptions, stop: EventFD, reports: Mailbox<TrackReport>
    ) throws -> (any VideoSource)? {
        do {
            return try options.video.open(
                size: options.dimension.size, frameRate: options.quality.frameRate, stop: stop
            ) { reports.send(.camera($0)) }
        } catch {
            throw CommandFailure(.media, code: -1301, "\(error)")
        }
    }

    private static func level(_ options: MediaOptions) throws -> H264Level {
        do {
            return try options.quality.level(for: options.dimension.size)
        } catch {
            throw CommandFailure(.usage, code: -1305, "\(error)")
        }
    }

    private static func encoder(_ configuration: VideoEncoderConfiguration) throws -> OpenH264Encoder {
        do {
            return try OpenH264Encoder(configuration: configuration)
        } catch {
            throw CommandFailure(.media, code: -1303, "\(error)")
        }
    }
}
