import ApplianceLogic
import ApplianceRuntime
import AudioCapture
import CardStorage
import DevicePorts
import DeviceStreams
import DisplayOutput
import Filters
import FrameFiltering
import LinuxIO
import MachineDevices
import Media
import MediaPipeline
import Publishing
import Settings
import SoftwareEncoding
import StreamLogic
import StreamQuality
import SyntheticSources
import USBVideo
import VideoCapture

/// Streams from this machine's devices.
struct MachineStreams: StreamEngine {
    func run(_ request: StreamRequest, commands: Mailbox<PublisherCommand>, reporter: EventSink) throws {
        let settings = try PublishSettings(request)
        for warning in settings.warnings { reporter.log("warning: \(warning)") }
        // Always watched, so that a status shows the present rates rather than those of three seconds ago.
        try LiveStream(
            settings: settings, commands: commands, isWatched: true,
            snapshotInterval: request.receivers.preview == nil ? .seconds(1) : .milliseconds(250), reporter: reporter
        ).run()
    }

    func takeStill(_ request: StillRequest, stop: EventFD) -> (SnapshotAnswer, Brightness?) {
        do {
            var settings = try MediaSettings(request.camera)
            // At full size, a camera cannot zoom.
            settings.takesStills =
                request.camera.device.snapshots.size == .full && !settings.controls.contains { $0.name == .zoom }
            return IdleSnapshot(as: settings, try FilterStatus(request.camera)).take(request.snapshot, stop: stop)
        } catch {
            return (.failed(request.snapshot, .camera(reason: "\(error)")), nil)
        }
    }

    func feedIdle(_ request: IdleFramesRequest, stop: EventFD, report: (IdleFramesEvent) -> Void) {
        IdleFrames(for: request.sinks, changes: request.changes) {
            (try MediaSettings(request.camera), try FilterStatus(request.camera))
        }.run(stop: stop, report: report)
    }

    func feedIdleAudio(_ request: IdleAudioRequest, stop: EventFD, report: (IdleAudioEvent) -> Void) {
        IdleAudio(for: request.sink) { try MediaSettings(request) }.run(stop: stop, report: report)
    }

    func devices(insteadOf fault: ApplianceFault) -> [String] { devicesInstead(of: fault) }

    func list(_ kind: DeviceList.Kind) -> DeviceList { listDevices(kind) }

    func findEncoders() -> EncoderFinding { findHardwareEncoders() }

    func problem(ofFileSource source: String) -> String? {
        do {
            _ = try VideoInput(fileIn: source)?.ownSize()
            return nil
        } catch {
            return source.hasSuffix(":") ? "the file name is missing; write \(source)FILE" : "\(error)"
        }
    }

    func openPreview(report: @escaping @Sendable (PreviewEvent) -> Void) throws -> any PreviewSink {
        try Display(PreviewOption(), report: report)
    }

    func openWebcam(
        _ request: WebcamRequest, report: @escaping @Sendable (WebcamReport) -> Void
    ) throws -> any WebcamSink {
        try WebcamGadget(request, report: report)
    }

    var webcamAbsence: String? { WebcamGadget.absence }

    func removeFormerWebcam() { WebcamGadget.removeFormer() }
}

extension MediaSettings {
    /// The same frames as in a stream.
    fileprivate init(_ camera: SourceDescription) throws {
        let device = camera.device
        self.init(
            video: VideoInput(device.firstSource, device, country: camera.country), audio: AudioInput.none,
            quality: try VideoQuality(named: device.highestQuality),
            audioQuality: try AudioQuality(named: device.audioQuality),
            dimension: try VideoDimension(parsing: device.dimension), encoder: EncoderChoice.openh264)
        rotation = FrameRotation(device)
        controls = device.controls
        filters = UsableFilters(device.filters).filters
    }
}

extension MediaSettings {
    /// All of a stream's media except filters, whose files must be read first.
    fileprivate init(_ request: StreamRequest) throws {
        let (sources, device, defaults) = (request.sources, request.sources.device, DeviceDescription())
        let video = VideoInput(device.firstSource, device, country: sources.country)
        self.init(
            video: video, audio: AudioInput(device, sources.board, movie: device.cameras.isEmpty ? video.movie : nil),
            quality: try VideoQuality(named: device.highestQuality),
            audioQuality: try AudioQuality(named: device.audioQuality),
            dimension: try VideoDimension(parsing: device.dimension), encoder: PublishSettings.encoder(sources.board),
            duration: nil)
        rotation = FrameRotation(device)
        cameras = device.cameras.map {
            NamedCamera(name: $0.name, choice: VideoInput($0.source, device, country: sources.country))
        }
        preview = request.receivers.preview
        frameSinks = request.receivers.frames
        audioSinks = request.receivers.audio
        isQualityChangeable = true
        hasTimecode = device.timecode
        controls = device.controls
        if device.smallestSize != defaults.smallestSize {
            smallestSize = try VideoDimension(parsing: device.smallestSize).size
        }
        // The page's viewers alone are not worth more of the processor's time.
        if request.receivers.isLowRate { quality = min(quality, .low3) }
        isVideoChosen = device.dimension != defaults.dimension || device.highestQuality != defaults.highestQuality
    }

    /// The same audio as in a stream.
    fileprivate init(_ request: IdleAudioRequest) throws {
        self.init(
            video: VideoInput.none, audio: AudioInput(request.device, request.board, movie: nil), quality: .standard,
            audioQuality: try AudioQuality(named: request.device.audioQuality), dimension: .standard,
            encoder: EncoderChoice.openh264)
        controls = request.device.controls
    }
}

extension FilterStatus {
    /// The status of a stream at its start.
    fileprivate init(_ camera: SourceDescription) throws {
        self.init()
        let start = try VideoQuality(named: camera.device.startQuality)
        if let name = camera.board?.name { self.name = name }
        quality = start.name
        bitrate = start.bitrate
    }
}

extension PublishSettings {
    /// Settings from the files on the boot partition.
    init(_ request: StreamRequest) throws {
        let device = request.sources.device
        let lowest = try VideoQuality(named: device.lowestQuality)
        let start = try VideoQuality(named: device.startQuality)
        let directory = request.storage.stateDirectory
        let destinations =
            request.description.map { PublishDestinations($0, stateDirectory: directory) } ?? PublishDestinations([])
        var media = try MediaSettings(request)
        let highest = media.quality
        let filters = request.filters()
        media.filters = filters.filters
        var warnings = filters.unusable.map(\.problem)
        media = try destinations.fitted(media, warnings: &warnings)
        // Without a server, nothing is too fast.
        var range = BitrateRange(
            minimum: min(lowest, highest).bitrate, start: request.description == nil ? highest.bitrate : start.bitrate,
            maximum: highest.bitrate)
        if let limit = destinations.limit(&range) { warnings.append(limit) }
        var quality = QualitySettings(
            videoQuality: highest, audioQuality: media.audio.isNone ? nil : media.audioQuality, bitrateRange: range)
        let resize = ResizePolicy(rawValue: device.resize.rawValue)
        quality.resize = resize ?? destinations.usualResizePolicy
        if let warning = resize.flatMap(destinations.warning) { warnings.append(warning) }
        quality.tierSwitch = lowest.tier == highest.tier ? .never : .restartStream
        quality.bufferLimits = try SendBufferLimits(
            maxDuration: .nanoseconds(Int64(device.bufferDuration * 1e9)), lowThreshold: device.bufferLowThreshold,
            highThreshold: device.bufferHighThreshold)
        self.init(
            destinations: destinations, media: media, quality: quality, statusInterval: device.statusInterval,
            reconnectLimit: device.reconnectAttempts.map { .attempts($0) } ?? .endless)
        self.warnings = warnings
        card = request.storage.card
        isMuted = request.isMuted
        isPaused = request.isPaused
        archive = request.receivers.archive
        viewer = request.receivers.viewer
        startsAtOnce = request.receivers.startsAtOnce
        if let name = request.sources.board?.name { deviceName = name }
        timeouts.connect = device.connectTimeout
        timeouts.handshake = device.handshakeTimeout
    }

    fileprivate static func encoder(_ board: BoardDescription?) -> EncoderChoice {
        switch board?.encoder {
        case .openh264: .openh264
        case .v4l2: .v4l2(path: nil)
        case .auto, nil: .auto
        }
    }
}

extension AudioInput {
    /// - Parameter movie: the stream's only video source, if it is a movie.
    fileprivate init(_ device: DeviceDescription, _ board: BoardDescription?, movie: MovieChoice?) {
        let named = device.microphones
        let microphone = board?.microphone ?? ""
        switch device.audioSource {
        case .none: self = .none
        case .silence: self = .embedded(.silence)
        case .microphone where !named.isEmpty, .auto where !named.isEmpty: self.init(microphones: named)
        case .microphone: self.init(microphone: microphone)
        case .auto:
            if !microphone.isEmpty {
                // A microphone named in the board's description is required; otherwise any that is found.
                self.init(microphone: microphone)
            } else if let movie {
                self = .movie(movie, isOptional: true)
            } else if device.firstSource == "synthetic" {
                self = .embedded(.tone)
            } else if Microphone.allAnswering().isEmpty {
                self = .embedded(.silence)
            } else {
                self.init(microphone: microphone)
            }
        }
    }
}

extension DeviceDescription {
    /// The camera that a stream starts with.
    fileprivate var firstSource: String { cameras.first?.source ?? camera }
}

extension VideoInput {
    /// - Parameter source: in the form of `camera` in device.json.
    /// - Returns: `nil` for a source that is neither an image nor a movie.
    init?(fileIn source: String) {
        if source.hasPrefix("image:") {
            self = .image(path: String(source.dropFirst(6)))
        } else if source.hasPrefix("movie:") {
            self = .movie(MovieChoice(path: String(source.dropFirst(6)), loops: true))
        } else {
            return nil
        }
    }

    /// "auto" is the first camera, a path a V4L2 camera, any other name an id or location in libcamera.
    /// - Parameter source: in the form of `camera` in device.json, or of one of its `cameras`.
    fileprivate init(_ source: String, _ device: DeviceDescription, country: String?) {
        var settings = CameraSettings(device, country: country)
        switch source {
        case "synthetic": self = .embedded(.synthetic)
        case "auto": self = .firstCamera(settings)
        case let name:
            if let file = VideoInput(fileIn: name) {
                self = file
                return
            }
            settings.device = name
            self = name.hasPrefix("/dev/") ? .v4l2(settings) : .libcamera(settings)
        }
    }
}

extension CameraSettings {
    fileprivate init(_ device: DeviceDescription, country: String?) {
        self.init(device: "")
        tuning = device.cameraTuning
        lowLight = device.lowLight == .slow ? .slow : .noisy
        mains =
            switch device.mains {
            case .auto: country.flatMap { MainsFrequency(country: $0) }
            case .hertz50: .hertz50
            case .hertz60: .hertz60
            case .off: nil
            }
    }
}

extension FrameRotation {
    fileprivate init(_ device: DeviceDescription) {
        let angle: Angle =
            switch device.orientation {
            case .upright: .none
            case .clockwise90: .clockwise90
            case .upsideDown: .half
            case .clockwise270: .clockwise270
            }
        self.init(angle, isMirrored: device.mirrored)
    }
}
