import DevicePorts
import Encoding
import LinuxIO
import Media
import SoftwareEncoding
import StreamLogic
import StreamQuality

/// Sources and encoders of a stream, opened before it is published, and their threads.
public final class MediaTracks {
    /// `nil` without audio.
    public private(set) var audio: AudioContent?
    private let encoderInUse: EncoderInUse?
    public var encoder: EncoderIdentity? { encoderInUse?.identity }
    /// The audio header, available before the first samples, because servers want headers before media.
    public let audioHeader: EncodedPacket?
    /// The source's frames per second; `nil` without video.
    public let sourceFrameRate: FrameRate?
    /// The configuration that the video encoder was opened with; `nil` without video.
    public private(set) var videoConfiguration: VideoEncoderConfiguration?
    /// Whether audio can have the quality's sample rate; a file or pipe has its own.
    public let hasOwnSampleRate: Bool
    /// Controls of the camera.
    public let controls = ControlsInUse()
    public let microphones: MicrophoneChanges
    /// `nil` without video.
    public let snapshots: SnapshotTaker?
    private let brightness = BrightnessWatch()
    private let gate: StartGate
    private var threads: [JoinableThread] = []

    /// - Parameters:
    ///   - settings: receive any changes that the machine required.
    /// - Throws: if a source, encoder or thread is unavailable. Nothing stays open then, and `context.stop` may be signaled.
    public init(
        settings: inout MediaSettings, point: OperatingPoint, maximum: Bitrate, context: StreamContext
    ) throws {
        gate = try StartGate(stop: context.stop)
        // Open both before starting a thread, so that a failure leaves nothing behind.
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
            // The thread of the other track waits at the gate with its device open; end it.
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
        // Data from files and pipes must not be lost.
        let isLive = settings.audio.takesSampleRate
        threads.append(try Self.thread("audio", pipeline) { $0.run(behind: gate, isLive: isLive) })
    }

    private static func thread<Pipeline>(
        _ name: String, _ pipeline: sending Pipeline, _ run: @escaping @Sendable (Pipeline) -> Void
    ) throws -> JoinableThread {
        JoinableThread(try NamedThread(name) { run(pipeline) })
    }

    /// The stream continues or restarts with these settings.
    public func reconfigured(video: VideoEncoderConfiguration?, audio: AudioQuality?) {
        videoConfiguration = video
        guard let audio else { return }
        self.audio?.bitrate = audio.bitrate
        if hasOwnSampleRate { self.audio?.sampleRate = audio.sampleRate }
    }

    /// Duration of the audio in this many packets.
    public func audioSeconds(packets: Int) -> Double {
        guard let audio else { return 0 }
        return Double(packets * AACEncoder.framesPerPacket) / Double(audio.sampleRate)
    }

    /// Whether to report how bright the frames are.
    public func watchBrightness(_ isWatched: Bool) { brightness.want(isWatched) }

    /// Starts all sources at the same moment.
    /// - Parameter start: the stream's time zero.
    public func start(from start: MediaTimestamp, until end: MediaTimestamp?) { gate.open(from: start, until: end) }

    /// Waits for the threads to end. `context.stop` must have been signaled.
    public func join() {
        for thread in threads { thread.join() }
        snapshots?.finish(because: .streamEnded, within: Self.snapshotTimeout)
    }

    /// Time for finishing a snapshot at the stream's end.
    private static let snapshotTimeout = Duration.seconds(1)
}
