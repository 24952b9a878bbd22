import ApplianceLogic
import LinuxIO
import Media
import RTMP
import SoftwareEncoding
import StreamQuality
import SyntheticSources

/// What is to be captured, and how it is to be encoded.
struct MediaOptions: Sendable {
    enum EncoderChoice: Hashable, Sendable {
        /// The hardware's where there is one, else OpenH264.
        case auto
        /// The hardware's: at this path, or the first that there is.
        case v4l2(path: String?)
        case openh264

        init(parsing text: String) throws {
            switch text {
            case "auto": self = .auto
            case "openh264": self = .openh264
            case "v4l2": self = .v4l2(path: nil)
            default:
                guard text.hasPrefix("v4l2:/"), text.utf8.count > 6 else {
                    throw CommandFailure.usage(
                        "--encoder is auto, v4l2, v4l2:/dev/videoN or openh264, not \"\(text)\"")
                }
                self = .v4l2(path: String(text.dropFirst(5)))
            }
        }
    }

    var video: VideoInput
    var audio: AudioInput
    var quality: VideoQuality
    /// Whether somebody may ask for another quality while the stream is live.
    var isQualityChangeable = false
    var audioQuality: AudioQuality
    /// The same for the whole stream: some services refuse another size, players often show garbage.
    var dimension: VideoDimension
    /// Whether somebody asked for the size or the quality, and it is no default.
    var isPictureChosen = true
    /// Of the source's pictures.
    var turn = PictureTurn()
    /// From one key frame to the next, as the service wants it.
    var keyFrameInterval = Duration.seconds(2)
    var encoder: EncoderChoice
    var duration: Duration?

    /// What the source is opened at, as it stays open for as long as the stream lives: no quality that can be reached
    /// lacks pictures. Those beyond the present one's rate reach no encoder.
    var sourceFrameRate: FrameRate {
        isQualityChangeable ? VideoQuality.allCases.map(\.frameRate).max() ?? quality.frameRate : quality.frameRate
    }

    /// Whether pictures or sound come from there.
    var readsStandardInput: Bool {
        if case .embedded(.raw("-", _, _, _)) = video { return true }
        if case .embedded(.raw("-", _)) = audio { return true }
        return false
    }

    var trackCount: Int { (video == .none ? 0 : 1) + (audio == .none ? 0 : 1) }
}

/// What `tallycam publish` was asked for, checked.
struct PublishOptions {

    enum Pace: String {
        /// As the file's timestamps say.
        case realtime
        /// As fast as the connection takes it.
        case fast
    }

    var destination: PublishDestination
    var media: MediaOptions
    var quality: QualitySettings
    var statusInterval: Duration
    var reconnectLimit: ReconnectPolicy.Limit
    var limits = StepLimits()
    var flvPath: String?
    /// Every measurement of the quality controller is an event.
    var isTraced = false
    /// Commands come on standard input, though it is no terminal.
    var takesCommands = false
    var pace: Pace
    /// What is odd but no fault, for the log.
    var warnings: [String] = []

    static let usage = "tallycam publish (--url URL | --stream stream.json) [OPTION...]"

    static let options =
        [
            CommandLineOption(
                "url", takes: "URL",
                help: """
                    where to: rtmp://HOST[:PORT]/APPLICATION/STREAM, or rtmps://
                    (other users see command lines; $TALLYCAM_URL is private)
                    """),
            CommandLineOption("stream", takes: "FILE", help: "where to: a stream.json"),
            CommandLineOption(
                "video", takes: "SOURCE",
                help: """
                    synthetic (default), none,
                    libcamera[:ID|front|back|external][,SETTING...],
                    v4l2:/dev/videoN[,SETTING...], or
                    raw:PATH,format=F,size=WxH,fps=N
                    with F i420, nv12, yuyv, uyvy, rgb888 or bgr888.
                    A camera's settings are size=WxH, fps=N, format=CODE
                    and its controls, CONTROL=VALUE (tallycam cameras).
                    PATH - is standard input. A file is paced by its fps,
                    a pipe by its writer.
                    """),
            CommandLineOption(
                "audio", takes: "SOURCE",
                help: """
                    tone (default), silence, none,
                    alsa[:DEVICE][,gain=DB][,mute=on] (tallycam microphones),
                    or raw:PATH,rate=N,channels=N (S16LE)
                    """),
            CommandLineOption(
                "quality", takes: "NAME",
                help:
                    "\(VideoQuality.allCases.map(\.name).joined(separator: " "))\n(default \(VideoQuality.standard.name))"
            ),
            CommandLineOption(
                "audio-quality", takes: "NAME",
                help:
                    "\(AudioQuality.presets.map(\.name).joined(separator: " ")) (default \(AudioQuality.standard.name))"
            ),
            CommandLineOption(
                "dimension", takes: "WxH|NAME",
                help: "picture size (default \(VideoDimension.standard.size)) or a name such as\n"
                    + "720p or 4:3-720p; other sizes are rounded to 16"),
        ] + AdaptationOptions.options + [
            CommandLineOption("encoder", takes: "NAME", help: "auto (default), v4l2, v4l2:/dev/videoN or openh264"),
            CommandLineOption("duration", takes: "SECONDS", help: "end after so much media"),
            CommandLineOption(
                "reconnect", takes: "N", help: "attempts after a failure: a number (default 3) or endless"),
        ] + StepLimits.options + [
            CommandLineOption("status-interval", takes: "SECONDS", help: "between status reports, 1 to 30 (default 3)"),
            CommandLineOption("from-flv", takes: "FILE", help: "publish an already encoded file; nothing is encoded"),
            CommandLineOption("pace", takes: "PACE", help: "of --from-flv: realtime (default) or fast"),
            CommandLineOption(
                "commands",
                help: """
                    take commands on standard input, as on a terminal: set quality
                    Medium2 changes the live stream at one key frame; help lists all
                    """),
            CommandLineOption("trace", help: "ten measurements of the network a second, as events"),
            CommandLineOption(
                "events", takes: "STYLE", help: "of standard output: text (default) or json, one object a line"),
        ]

    init(_ arguments: CommandLineArguments) throws {
        (destination, warnings) = try Self.destination(arguments)
        media = try MediaOptions(
            video: Self.value(arguments["video"] ?? "synthetic") { try VideoInput(parsing: $0) },
            audio: Self.value(arguments["audio"] ?? "tone") { try AudioInput(parsing: $0) },
            quality: Self.value(arguments["quality"] ?? VideoQuality.standard.name) { try VideoQuality(named: $0) },
            audioQuality: Self.value(arguments["audio-quality"] ?? AudioQuality.standard.name) {
                try AudioQuality(named: $0)
            },
            dimension: Self.value(arguments["dimension"] ?? "\(VideoDimension.standard.size)") {
                try VideoDimension(parsing: $0)
            },
            encoder: MediaOptions.EncoderChoice(parsing: arguments["encoder"] ?? "auto"),
            duration: arguments["duration"].map(Self.duration))
        media.isPictureChosen = arguments["dimension"] != nil || arguments["quality"] != nil
        flvPath = arguments["from-flv"]
        if flvPath == nil {
            try Self.check(media)
            media = try destination.fitted(media, warnings: &warnings)
        } else {
            var unused: [String] = []
            _ = try destination.fitted(media, warnings: &unused)
        }
        quality = try AdaptationOptions.settings(arguments, media: media)
        isTraced = arguments.contains("trace")
        takesCommands = arguments.contains("commands")
        if takesCommands, media.readsStandardInput {
            throw CommandFailure.usage("--commands: standard input is read for --video or --audio already")
        }
        pace = try Self.choice(arguments, "pace", default: .realtime, "realtime or fast")
        statusInterval = try Self.statusInterval(arguments["status-interval"])
        reconnectLimit = try Self.reconnectLimit(arguments["reconnect"])
        limits = try StepLimits(arguments)
        try checkCombination(arguments)
    }

    private func checkCombination(_ arguments: CommandLineArguments) throws {
        if flvPath != nil,
            let extra = [
                "video", "audio", "quality", "audio-quality", "dimension", "encoder", "trace", "commands",
            ]
            .first(where: arguments.contains)
                ?? AdaptationOptions.options.map(\.name).first(where: arguments.contains)
        {
            throw CommandFailure.usage("--\(extra) does not go with --from-flv: the file is already encoded")
        }
        if flvPath != nil, arguments.contains("reconnect") {
            throw CommandFailure.usage("--reconnect does not go with --from-flv: a file goes over one connection")
        }
        if flvPath == nil, arguments.contains("pace") {
            throw CommandFailure.usage("--pace goes with --from-flv only")
        }
    }

    private static func check(_ media: MediaOptions) throws {
        if case .embedded(.raw("-", _, _, _)) = media.video, case .embedded(.raw("-", _)) = media.audio {
            throw CommandFailure.usage("--video and --audio cannot both read standard input")
        }
        guard media.video == .none, media.audio == .none else { return }
        throw CommandFailure.usage("--video none and --audio none leave nothing to publish")
    }

    private static func destination(
        _ arguments: CommandLineArguments
    ) throws -> (PublishDestination, warnings: [String]) {
        switch (arguments["url"] ?? environment("TALLYCAM_URL"), arguments["stream"]) {
        case (_, let path?):
            guard arguments["url"] == nil else { throw CommandFailure.usage("--url and --stream exclude each other") }
            let (stream, faults) = try readStreamDescription(path)
            return (
                PublishDestination(
                    stream, path: path, stateDirectory: PublishDestination.standardStateDirectory),
                faults.map { "\(path):\($0)" }
            )
        case (let text?, nil):
            do {
                return (PublishDestination(url: try RTMPURL(parsing: text)), [])
            } catch {
                let place = arguments["url"] == nil ? "$TALLYCAM_URL" : "--url"
                throw CommandFailure.usage("\(place): \(error)")
            }
        case (nil, nil): throw CommandFailure.usage("where to? give --url or --stream; see tallycam publish --help")
        }
    }

    /// Turns a module's own error about a command line value into a usage failure.
    private static func value<Value>(_ text: String, _ parse: (String) throws -> Value) throws -> Value {
        do {
            return try parse(text)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }

    private static func choice<Choice: RawRepresentable<String>>(
        _ arguments: CommandLineArguments, _ name: String, default standard: Choice, _ possible: String
    ) throws -> Choice {
        guard let text = arguments[name] else { return standard }
        guard let choice = Choice(rawValue: text) else {
            throw CommandFailure.usage("--\(name) is \(possible), not \"\(text)\"")
        }
        return choice
    }

    private static func statusInterval(_ text: String?) throws -> Duration {
        guard let text else { return .seconds(3) }
        guard let seconds = Int(text), (1...30).contains(seconds) else {
            throw CommandFailure.usage("--status-interval is a whole number of seconds, 1 to 30, not \"\(text)\"")
        }
        return .seconds(seconds)
    }

    private static func reconnectLimit(_ text: String?) throws -> ReconnectPolicy.Limit {
        switch text {
        case nil: return .attempts(3)
        case "endless": return .endless
        case let text?:
            guard let attempts = Int(text), (0...1000).contains(attempts) else {
                throw CommandFailure.usage("--reconnect is a number of attempts or endless, not \"\(text)\"")
            }
            return .attempts(attempts)
        }
    }

    private static func duration(_ text: String) throws -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds <= 31_536_000 else {
            throw CommandFailure.usage("--duration is a number of seconds above 0, not \"\(text)\"")
        }
        return .nanoseconds(Int64(seconds * 1e9))
    }
}
