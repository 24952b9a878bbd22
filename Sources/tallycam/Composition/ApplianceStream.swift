import ApplianceRuntime
import AudioCapture
import DevicePorts
import Media
import MediaPipeline
import Publishing
import Settings
import SoftwareEncoding
import StreamQuality
import SyntheticSources

extension StreamEngine {
    static let onThisMachine = StreamEngine(
        run: { request, commands, reporter in
            let settings = try PublishSettings(request)
            for warning in settings.warnings { reporter.log("warning: \(warning)") }
            try LivePublisher(settings: settings, commands: commands, reporter: reporter).run()
        }, devices: devicesInstead)
}

extension PublishSettings {
    /// As the files on the boot partition say.
    init(_ request: StreamRequest) throws {
        let device = request.device
        let highest = try VideoQuality(named: device.highestQuality)
        let lowest = try VideoQuality(named: device.lowestQuality)
        let start = try VideoQuality(named: device.startQuality)
        let destination = PublishDestination(request.description, stateDirectory: request.stateDirectory)
        var media = MediaSettings(
            video: Self.videoSource(request.device.cameras.first?.source ?? request.device.camera, request),
            audio: Self.audioSource(request), quality: highest,
            audioQuality: try AudioQuality(named: device.audioQuality),
            dimension: try VideoDimension(parsing: device.dimension), encoder: Self.encoder(request.board),
            duration: nil)
        media.rotation = FrameRotation(device)
        media.cameras = device.cameras.map {
            NamedCamera(name: $0.name, choice: Self.videoSource($0.source, request))
        }
        media.isQualityChangeable = true
        if device.smallestSize != DeviceDescription().smallestSize {
            media.smallestSize = try VideoDimension(parsing: device.smallestSize).size
        }
        let defaults = DeviceDescription()
        media.isVideoChosen =
            device.dimension != defaults.dimension || device.highestQuality != defaults.highestQuality
        var warnings: [String] = []
        media = try destination.fitted(media, warnings: &warnings)
        var quality = QualitySettings(
            videoQuality: highest, audioQuality: media.audio.isNone ? nil : media.audioQuality,
            bitrateRange: BitrateRange(minimum: lowest.bitrate, start: start.bitrate, maximum: highest.bitrate))
        let resize = ResizePolicy(rawValue: device.resize.rawValue)
        quality.resize = resize ?? destination.usualResizePolicy
        if let warning = resize.flatMap(destination.warning) { warnings.append(warning) }
        quality.tierSwitch = lowest.tier == highest.tier ? .never : .restartStream
        quality.bufferLimits = try SendBufferLimits(
            maxDuration: .nanoseconds(Int64(device.bufferDuration * 1e9)), lowThreshold: device.bufferLowThreshold,
            highThreshold: device.bufferHighThreshold)
        self.init(
            destination: destination, media: media, quality: quality, statusInterval: device.statusInterval,
            reconnectLimit: device.reconnectAttempts.map { .attempts($0) } ?? .endless)
        self.warnings = warnings
        timeouts.connect = device.connectTimeout
        timeouts.handshake = device.handshakeTimeout
    }

    /// "auto" is the first camera, a path a V4L2 camera, any other name an id or location of libcamera's.
    private static func videoSource(_ name: String, _ request: StreamRequest) -> VideoInput {
        switch name {
        case "synthetic": .embedded(.synthetic)
        case "auto": .firstCamera(CameraSettings(device: "", request))
        case let name where name.hasPrefix("/dev/"): .v4l2(CameraSettings(device: name, request))
        case let name: .libcamera(CameraSettings(device: name, request))
        }
    }

    private static func audioSource(_ request: StreamRequest) -> AudioInput {
        let microphone = MicrophoneSettings(device: request.board?.microphone ?? "")
        switch request.device.audioSource {
        case .none: return .none
        case .silence: return .embedded(.silence)
        case .microphone: return .alsa(microphone)
        case .auto:
            // One that the board is said to have must be there; else whatever is.
            guard microphone.device.isEmpty else { return .alsa(microphone) }
            let video = request.device.cameras.first?.source ?? request.device.camera
            if video == "synthetic" { return .embedded(.tone) }
            return Microphone.all().isEmpty ? .embedded(.silence) : .alsa(microphone)
        }
    }

    private static func encoder(_ board: BoardDescription?) -> EncoderChoice {
        switch board?.encoder {
        case .openh264: .openh264
        case .v4l2: .v4l2(path: nil)
        case .auto, nil: .auto
        }
    }
}

extension CameraSettings {
    fileprivate init(device: String, _ request: StreamRequest) {
        self.init(device: device)
        tuning = request.device.cameraTuning
        lowLight = request.device.lowLight == .slow ? .slow : .noisy
        mains =
            switch request.device.mains {
            case .auto: request.country.flatMap { MainsFrequency(country: $0) }
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
