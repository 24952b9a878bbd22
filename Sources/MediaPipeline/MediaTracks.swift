import DevicePorts
import Encoding
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality

/// Sources and encoders of a stream, opened before it is published, and the threads they run on.
public final class MediaTracks {
    /// `nil` without audio.
    public private(set) var audio: AudioContent?
    private let encoderInUse: EncoderInUse?
    public var encoder: EncoderIdentity? { encoderInUse?.identity }
    /// The audio's header, which is known before the first samples: servers want headers before media.
    public let audioHeader: EncodedPacket?
    /// Frames a second that the video source gives; `nil` without video.
    public let sourceFrameRate: FrameRate?
    /// What the video encoder was opened with; `nil` without video.
    public private(set) var videoConfiguration: VideoEncoderConfiguration?
    /// Whether audio comes at the rate that the quality asks for; that of a file or pipe is what it is.
    public let hasOwnSampleRate: Bool
    /// Of the camera.
    public let controls = ControlsInUse()
    public let microphones: MicrophoneChanges
    /// `nil` without video.
    public let snapshots: SnapshotTaker?
    private let brightness = BrightnessWatch()
    private let gate: StartGate
    private var threads: [JoinableThread] = []

    /// - Parameters:
    ///   - settings: get what had to be changed for the machine's sake.
    /// - Throws: when a source, an encoder or a thread is not to be had. Nothing is open then, and `context.stop` may be
    ///   signalled.
    public init(
        settings: inout MediaSettings, point: OperatingPoint, maximum: Bitrate, context: StreamContext
    ) throws {
        gate = try StartGate(stop: context.stop)
        // Both are opened before a thread is started: a failure here leaves nothing behind.
        let video = try VideoTrack(settings: &settings, point: point, maximum: maximum, context: context)
        let audio = try AudioTrack(
            settings: settings, bitrate: point.audioQuality?.bitrate, stop: context.stop, reports: context.reports)
        audioHeader = audio?.encoder.takeHeader(at: MonotonicClock.now())
        hasOwnSampleRate = settings.audio.takesSampleRate
        microphones = MicrophoneChanges(settings.audio.microphones, hasAudio: !settings.audio.isNone)
        self.audio = audio?.content
        encoderInUse = video?.encoderInUse
        videoConfiguration = video?.configuration
        sourceFrameRate = video?.source.frameRate
        let snapshots = try SnapshotTaker { [reports = context.reports] in reports.send(.snapshot($0)) }
        self.snapshots = video == nil ? nil : snapshots
        do {
            if let video { try startVideo(video, snapshots, settings, context) }
            if let audio { try startAudio(audio, settings, context) }
        } catch {
            // The track that has its thread waits at the gate, with its device open.
            context.stop.signal()
            for thread in threads { thread.join() }
            throw error
        }
    }

    private func startVideo(
        _ track: sending VideoTrack, _ snapshots: SnapshotTaker, _ settings: MediaSettings,
        _ context: StreamContext
    ) throws {
        let gate = gate
        let pipeline = VideoPipeline(
            track: track, controls: controls, snapshots: snapshots, brightness: brightness, preview: settings.preview,
            sinks: settings.frameSinks, context: context)
        let isLive = settings.video.isLive || !settings.cameras.isEmpty
        threads.append(try Self.thread("video", pipeline) { $0.run(behind: gate, isLive: isLive) })
    }

    private func startAudio(
        _ track: sending AudioTrack, _ settings: MediaSettings, _ context: StreamContext
    ) throws {
        let gate = gate
        let pipeline = AudioPipeline(
            track: track, fillsWithSilence: snapshots != nil, sinks: settings.audioSinks, context: context)
        // What files and pipes give is not to be lost.
        let isLive = settings.audio.takesSampleRate
        threads.append(try Self.thread("audio", pipeline) { $0.run(behind: gate, isLive: isLive) })
    }

    private static func thread<Pipeline>(
        _ name: String, _ pipeline: sending Pipeline, _ run: @escaping @Sendable (Pipeline) -> Void
    ) throws -> JoinableThread {
        JoinableThread(try NamedThread(name) { run(pipeline) })
    }

    /// The stream goes on, or starts again, with these.
    public func reconfigured(video: VideoEncoderConfiguration?, audio: AudioQuality?) {
        videoConfiguration = video
        guard let audio else { return }
        self.audio?.bitrate = audio.bitrate
        if hasOwnSampleRate { self.audio?.sampleRate = audio.sampleRate }
    }

    /// How much audio so many packets hold.
    public func audioSeconds(packets: Int) -> Double {
        guard let audio else { return 0 }
        return Double(packets * AACEncoder.framesPerPacket) / Double(audio.sampleRate)
    }

    /// Whether reports tell how bright the frames are.
    public func watchBrightness(_ isWatched: Bool) { brightness.want(isWatched) }

    /// Lets the sources start, all at one moment.
    /// - Parameter start: the stream's time zero.
    public func start(from start: MediaTimestamp, until end: MediaTimestamp?) { gate.open(from: start, until: end) }

    /// Waits for the threads' end. The stop must have been signalled.
    public func join() {
        for thread in threads { thread.join() }
        snapshots?.finish(reason: "the stream has ended", within: Self.snapshotTimeout)
    }

    /// At the stream's end, for the file that is just being made.
    private static let snapshotTimeout = Duration.seconds(1)
}
