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
    /// Makes another one, for a stream that begins again. Used on the video thread.
    let makeEncoder: @Sendable (VideoEncoderConfiguration) throws -> any VideoEncoder
    let configuration: VideoEncoderConfiguration
    let encoderInUse: EncoderInUse
    let keyFrameInterval: Duration
    let metadata: StreamMetadata.Video
    let pacer: FramePacer

    /// - Parameter point: what the stream begins with.
    init?(
        options: MediaOptions, point: OperatingPoint, stop: EventFD, reports: Mailbox<TrackReport>, console: Console
    ) throws {
        guard let source = try Self.source(options, stop: stop, reports: reports) else { return nil }
        let size = options.dimension.size
        if options.dimension.isRounded {
            console.log("the size \(options.dimension.requestedSize) is rounded to \(size)")
        }
        if PictureFit(source.layout.size, into: size).hasBars {
            console.log("warning: \(source.layout.size) has another aspect than \(size); black bars fill the rest")
        }
        if source.frameRate < options.quality.frameRate {
            console.log(
                "warning: the source gives \(source.frameRate.framesPerSecond) fps, \(options.quality.name) has "
                    + "\(options.quality.frameRate.framesPerSecond)")
        }
        let configuration = try Self.configuration(options, point: point, sourceRate: source.frameRate)
        self.source = source
        self.configuration = configuration
        keyFrameInterval = options.keyFrameInterval
        let factory = EncoderFactory(
            choice: options.encoder, layout: source.layout, inUse: EncoderInUse("openh264"), reports: reports)
        encoder = try factory.make(configuration) { console.log($0) }
        makeEncoder = { configuration in try factory.make(configuration) { _ in } }
        encoderInUse = factory.inUse
        metadata = StreamMetadata.Video(configuration)
        pacer = FramePacer(source: source.frameRate, wanted: configuration.frameRate)
    }

    /// What the encoder is opened with for an operating point.
    static func configuration(
        _ options: MediaOptions, point: OperatingPoint, sourceRate: FrameRate
    ) throws -> VideoEncoderConfiguration {
        let frameRate = min(point.frameRate, sourceRate)
        // The best quality that the stream can rise to without another start.
        let isLower = point.videoQuality?.group == .lowAndMedium && options.quality.group == .high
        let best = isLower ? .medium3 : options.quality
        return VideoEncoderConfiguration(
            size: options.dimension.size, frameRate: frameRate, bitrate: point.videoBitrate, profile: best.profile,
            level: try level(best, options),
            keyFrameInterval: keyFrameDistance(options.keyFrameInterval, at: frameRate))
    }

    /// From one key frame to the next, in pictures.
    static func keyFrameDistance(_ interval: Duration, at frameRate: FrameRate) -> Int {
        max(1, Int(interval.inSeconds * Double(frameRate.framesPerSecond)))
    }

    private static func source(
        _ options: MediaOptions, stop: EventFD, reports: Mailbox<TrackReport>
    ) throws -> (any VideoSource)? {
        do {
            let source = try options.video.open(
                size: options.turn.turned(options.dimension.size), frameRate: options.quality.frameRate, stop: stop
            ) { reports.send(.source($0)) }
            guard let source, !options.turn.isIdentity else { return source }
            return try TurnedVideo(source, options.turn)
        } catch {
            throw CommandFailure(.media, code: -1301, "\(error)")
        }
    }

    private static func level(_ quality: VideoQuality, _ options: MediaOptions) throws -> H264Level {
        do {
            return try quality.level(for: options.dimension.size)
        } catch {
            throw CommandFailure(.usage, code: -1305, "\(error)")
        }
    }
}

extension StreamMetadata.Video {
    init(_ configuration: VideoEncoderConfiguration) {
        self.init(size: configuration.size, frameRate: configuration.frameRate, bitrate: configuration.bitrate)
    }
}
