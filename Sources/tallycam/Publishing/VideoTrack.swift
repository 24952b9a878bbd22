import ApplianceLogic
import DevicePorts
import LinuxIO
import Media
import RTMP
import SoftwareEncoding
import StreamQuality
import V4L2Devices

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

    /// - Parameters:
    ///   - options: get a smaller size when the encoder has no memory for the one that was asked for.
    ///   - point: what the stream begins with.
    ///   - maximum: the highest bit rate that it may have.
    init?(
        options: inout MediaOptions, point: OperatingPoint, maximum: Bitrate, stop: EventFD,
        reports: Mailbox<TrackReport>,
        console: Console
    ) throws {
        if options.dimension.isRounded {
            console.log("the size \(options.dimension.requestedSize) is rounded to \(options.dimension.size)")
        }
        let asked = options.dimension
        var opened = Opened(try Self.source(options, stop: stop, reports: reports))
        var mayShrink = true
        while opened.encoder == nil, opened.source != nil {
            do {
                try opened.openEncoder(
                    options, point: point, maximum: maximum, mayShrink: mayShrink, reports: reports, console: console)
            } catch let lack as HardwareEncodingError {
                mayShrink = try options.fit(after: lack, asked: asked, point: point, maximum: maximum)
                console.log("warning: \(lack); the picture is \(options.dimension.size) now")
                if options.video.isCamera {
                    // A smaller picture of its own leaves more memory, too; the larger one's goes back before.
                    opened.source = nil
                    opened.source = try Self.source(options, stop: stop, reports: reports)
                }
            }
        }
        guard let source = opened.source, let encoder = opened.encoder, let factory = opened.factory,
            let configuration = opened.configuration
        else { return nil }
        self.source = source
        self.configuration = configuration
        self.encoder = encoder
        keyFrameInterval = options.keyFrameInterval
        makeEncoder = { configuration in try factory.makeWhileLive(configuration) }
        encoderInUse = factory.inUse
        metadata = StreamMetadata.Video(configuration)
        pacer = FramePacer(source: source.frameRate, wanted: configuration.frameRate)
        Self.warn(of: source, options, console)
    }

    /// What has been opened so far.
    private struct Opened {
        var source: (any VideoSource)?
        var encoder: (any VideoEncoder)?
        var factory: EncoderFactory?
        var configuration: VideoEncoderConfiguration?

        init(_ source: (any VideoSource)?) { self.source = source }

        mutating func openEncoder(
            _ options: MediaOptions, point: OperatingPoint, maximum: Bitrate, mayShrink: Bool,
            reports: Mailbox<TrackReport>, console: Console
        ) throws {
            guard let source else { return }
            let configuration = try VideoTrack.configuration(
                options, point: point, maximum: maximum, sourceRate: source.frameRate)
            let factory = EncoderFactory(
                choice: options.encoder, layout: source.layout, isLent: options.video.isCamera,
                isPictureChosen: options.isPictureChosen, inUse: EncoderInUse(), reports: reports)
            encoder = try factory.make(configuration, mayShrink: mayShrink) { console.log($0) }
            self.factory = factory
            self.configuration = configuration
        }
    }

    private static func warn(of source: any VideoSource, _ options: MediaOptions, _ console: Console) {
        let size = options.dimension.size
        if PictureFit(source.layout.size, into: size).hasBars {
            console.log("warning: \(source.layout.size) has another aspect than \(size); black bars fill the rest")
        }
        if source.frameRate < options.quality.frameRate {
            console.log(
                "warning: the source gives \(source.frameRate.framesPerSecond) fps, \(options.quality.name) has "
                    + "\(options.quality.frameRate.framesPerSecond)")
        }
    }

    /// What the encoder is opened with for an operating point.
    static func configuration(
        _ options: MediaOptions, point: OperatingPoint, maximum: Bitrate, sourceRate: FrameRate
    ) throws -> VideoEncoderConfiguration {
        let frameRate = min(point.frameRate, sourceRate)
        // The best quality that the stream can rise to without another start.
        let isLower = point.videoQuality?.group == .lowAndMedium && options.quality.group == .high
        let best = isLower ? .medium3 : options.quality
        return VideoEncoderConfiguration(
            size: options.dimension.size, frameRate: frameRate, bitrate: point.videoBitrate, profile: best.profile,
            level: try level(best, isLower ? best.bitrate : maximum, options),
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
                size: options.turn.turned(options.dimension.size), frameRate: options.sourceFrameRate, stop: stop
            ) { reports.send(.source($0)) }
            guard let source, !options.turn.isIdentity else { return source }
            return try TurnedVideo(source, options.turn)
        } catch {
            throw CommandFailure(.media, code: -1301, "\(error)")
        }
    }

    private static func level(
        _ quality: VideoQuality, _ maximum: Bitrate, _ options: MediaOptions
    ) throws -> H264Level {
        do {
            return try quality.level(for: options.dimension.size, upTo: maximum)
        } catch {
            throw CommandFailure(.usage, code: -1305, "\(error)")
        }
    }
}

extension MediaOptions {
    /// What is tried next when the hardware encoder has too little memory: a smaller picture, at last software with
    /// what the processor carries of the picture that was asked for, until the hardware takes that.
    /// - Returns: whether a still smaller picture can be tried after that.
    fileprivate mutating func fit(
        after lack: HardwareEncodingError, asked: VideoDimension, point: OperatingPoint, maximum: Bitrate
    ) throws -> Bool {
        if let smaller = dimension.smaller {
            dimension = smaller
            return true
        }
        guard encoder == .auto else {
            throw CommandFailure(.media, code: EventCode.videoEncodingFailed.rawValue, "\(lack)")
        }
        dimension = asked
        let configuration = try VideoTrack.configuration(
            self, point: point, maximum: maximum, sourceRate: point.frameRate)
        let carried = SoftwareBudget.ofThisMachine.carried(configuration)
        dimension = (try? VideoDimension(carried.size)) ?? dimension
        return false
    }
}

extension StreamMetadata.Video {
    init(_ configuration: VideoEncoderConfiguration) {
        self.init(size: configuration.size, frameRate: configuration.frameRate, bitrate: configuration.bitrate)
    }
}
