import ApplianceLogic
import AudioCapture
import DevicePorts
import LinuxIO
import Media
import StreamFile
import StreamQuality
import SyntheticSources

/// What the stream's thread tells the main thread.
enum StreamReport: Sendable {
    case console(Console.Report)
    /// The stream is over; nothing follows.
    case ended(CommandFailure?)
}

/// Runs the stream on a thread of its own, one after the other. Used from the main thread.
final class StreamRunner {
    let reports: Mailbox<StreamReport>
    private let stateDirectory: String
    private var running: (thread: JoinableThread, remote: PublisherRemote)?
    /// Begin again when the present one has ended.
    private var startsAgain = false

    init(stateDirectory: String) throws {
        reports = try Mailbox()
        self.stateDirectory = stateDirectory
    }

    var isRunning: Bool { running != nil }

    /// Whether the stream's thread has answered since it was asked last; true without a stream.
    var isAlive: Bool { running?.remote.hasAnswered ?? true }

    func askForLife() { running?.remote.ask() }

    /// Begins a stream; after the end of the present one if there is one.
    func start(_ files: DescriptionFiles) throws {
        guard running == nil else {
            startsAgain = true
            return
        }
        guard let description = files.stream else { return }
        let remote = try PublisherRemote()
        let request = StreamRequest(
            description: description, device: files.device, board: files.board, stateDirectory: stateDirectory)
        running = (try Self.thread(request, remote: remote, reports: reports), remote)
    }

    func stop() {
        startsAgain = false
        running?.remote.stop()
    }

    func restart() {
        startsAgain = running != nil
        running?.remote.stop()
    }

    /// The thread has reported its end.
    /// - Returns: whether a new stream is to begin.
    func ended() -> Bool {
        running?.thread.join()
        running = nil
        defer { startsAgain = false }
        return startsAgain
    }

    private static func thread(
        _ request: StreamRequest, remote: PublisherRemote, reports: Mailbox<StreamReport>
    ) throws(SystemCallError) -> JoinableThread {
        JoinableThread(
            try NamedThread("stream") {
                do {
                    let console = Console { reports.send(.console($0)) }
                    let options = try PublishOptions(request)
                    for warning in options.warnings { console.log("warning: \(warning)") }
                    _ = try LivePublisher(options: options, console: console, remote: remote).run()
                    reports.send(.ended(nil))
                } catch {
                    let failure = error as? CommandFailure ?? CommandFailure(.system, "\(error)")
                    reports.send(.ended(failure))
                }
            })
    }
}

/// What a stream is made of; goes to the stream's thread.
struct StreamRequest: Sendable {
    let description: StreamDescription
    let device: DeviceDescription
    let board: BoardDescription?
    let stateDirectory: String
}

extension PublishOptions {
    /// As the files on the boot partition say.
    init(_ request: StreamRequest) throws {
        let device = request.device
        let highest = try VideoQuality(named: device.highestQuality)
        let lowest = try VideoQuality(named: device.lowestQuality)
        let start = try VideoQuality(named: device.startQuality)
        destination = PublishDestination(request.description, stateDirectory: request.stateDirectory)
        media = MediaOptions(
            video: Self.videoSource(device), audio: Self.audioSource(device), quality: highest,
            audioQuality: try AudioQuality(named: device.audioQuality),
            dimension: try VideoDimension(parsing: device.dimension), encoder: Self.encoder(request.board),
            duration: nil)
        media = try destination.fitted(media, warnings: &warnings)
        quality = QualitySettings(
            videoQuality: highest, audioQuality: media.audio == .none ? nil : media.audioQuality,
            bitrateRange: BitrateRange(minimum: lowest.bitrate, start: start.bitrate, maximum: highest.bitrate))
        quality.groupCrossing = lowest.group == highest.group ? .never : .restartStream
        quality.bufferLimits = try SendBufferLimits(
            maxDuration: .nanoseconds(Int64(device.bufferDuration * 1e9)), lowThreshold: device.bufferLowThreshold,
            highThreshold: device.bufferHighThreshold)
        statusInterval = device.statusInterval
        reconnectLimit = device.reconnectAttempts.map { .attempts($0) } ?? .endless
        pace = .realtime
    }

    /// "auto" is the first camera, a path a V4L2 camera, any other name an id or location of libcamera's.
    private static func videoSource(_ device: DeviceDescription) -> VideoInput {
        switch device.camera {
        case "synthetic": .embedded(.synthetic)
        case "auto": .firstCamera
        case let name where name.hasPrefix("/dev/"): .v4l2(CameraSettings(device: name))
        case let name: .libcamera(CameraSettings(device: name))
        }
    }

    private static func audioSource(_ device: DeviceDescription) -> AudioInput {
        switch device.audioSource {
        case .none: .none
        case .silence: .embedded(.silence)
        case .microphone: .alsa(MicrophoneSettings())
        case .auto where device.camera == "synthetic": .embedded(.tone)
        case .auto: Microphone.all().isEmpty ? .embedded(.silence) : .alsa(MicrophoneSettings())
        }
    }

    private static func encoder(_ board: BoardDescription?) -> MediaOptions.EncoderChoice {
        switch board?.encoder {
        case .openh264: .openh264
        case .v4l2: .v4l2(path: nil)
        case .auto, nil: .auto
        }
    }
}
