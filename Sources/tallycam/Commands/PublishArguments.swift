import Controls
import FilePublishing
import Filters
import FrameFiltering
import LinuxIO
import MachineDevices
import Media
import MediaPipeline
import Publishing
import Settings
import StreamLogic
import StreamQuality
import Terminal
import Transport
import VideoCapture

/// The checked arguments of `tallycam publish`.
struct PublishArguments {
    var publish: PublishSettings
    /// A file to publish without encoding, instead of live media.
    let file: PublishedFile?
    /// Read commands from standard input even if it is not a terminal.
    let takesCommands: Bool
    /// `nil` without a preview.
    let preview: PreviewOption?

    init(_ arguments: CommandLineArguments) throws {
        file = try PublishedFile(arguments)
        try TimeZoneOption.apply(arguments)
        var (destinations, warnings) = try Self.destinations(arguments)
        var media = try Self.media(arguments)
        if let file {
            var unused: [String] = []
            _ = try destinations.fitted(media, warnings: &unused)
            guard destinations.all.count == 1 else {
                throw CommandFailure.usage(
                    "\(file.option) publishes to one server; the stream file lists several targets")
            }
        } else {
            try Self.check(media)
            media = try destinations.fitted(media, warnings: &warnings)
        }
        let quality = try AdaptationOptions.settings(
            arguments, media: media, destinations: destinations, warnings: &warnings)
        var publish = try PublishSettings(
            destinations: destinations, media: media, quality: quality,
            statusInterval: Self.statusInterval(arguments["status-interval"]),
            reconnectLimit: Self.reconnectLimit(arguments["reconnect"]))
        publish.warnings = warnings
        publish.isTraced = arguments.contains("trace")
        publish.pace = try SourceOptions.pace(arguments)
        publish.timeouts = try StepTimeouts(arguments)
        if let path = try PauseImageOption.path(arguments, media: media) { publish.pauseImage = path }
        self.publish = publish
        takesCommands = arguments.contains("commands")
        preview = try arguments["preview"].map { text throws(CommandFailure) in try PreviewOption(parsing: text) }
        if takesCommands, media.readsStandardInput {
            throw CommandFailure.usage("--commands: standard input is already used by --video or --audio")
        }
        if preview != nil, file == nil, media.video.isNone {
            throw CommandFailure.usage("--preview cannot be combined with --video none: it shows the video")
        }
        try checkCombination(arguments)
    }

    private static func media(_ arguments: CommandLineArguments) throws -> MediaSettings {
        let cameras = try Self.cameras(arguments)
        let isPaced = try SourceOptions.pace(arguments) == .realtime
        let video = try Self.value(arguments["video"] ?? "synthetic") { try VideoInput(parsing: $0) }
        let rotation = try SourceOptions.rotation(arguments)
        var media = try MediaSettings(
            video: cameras.first?.choice ?? (isPaced ? video : video.unpaced),
            audio: Self.audio(
                arguments.values(of: "audio"), isPaced: isPaced, movie: cameras.isEmpty ? video.movie : nil),
            quality: Self.value(arguments["quality"] ?? VideoQuality.standard.name) { try VideoQuality(named: $0) },
            audioQuality: Self.value(arguments["audio-quality"] ?? AudioQuality.standard.name) {
                try AudioQuality(named: $0)
            },
            dimension: Self.value(arguments["dimension"] ?? "\(VideoDimension.standard.size)") {
                try SourceOptions.dimension($0, of: cameras.first?.choice ?? video, rotation)
            },
            encoder: EncoderChoice(parsing: arguments["encoder"] ?? "auto"),
            duration: arguments["duration"].map(Self.duration))
        media.smallestSize = try arguments["smallest-size"].map { text throws(CommandFailure) in
            do throws(QualityError) {
                return try VideoDimension(parsing: text).size
            } catch {
                throw CommandFailure.usage("--smallest-size: \(error)")
            }
        }
        media.rotation = rotation
        media.hasTimecode = arguments.contains("timecode")
        media.controls = try controls(arguments["set"] ?? "")
        media.filters = try filters(arguments.values(of: "filter"))
        media.isVideoChosen = arguments["dimension"] != nil || arguments["quality"] != nil
        media.cameras = cameras
        return media
    }

    private static func controls(_ text: String) throws(CommandFailure) -> [ControlChange] {
        let words = text.split(separator: " ").map(String.init)
        guard !words.isEmpty else { return [] }
        let changes: RequestedChanges
        do throws(ChangeError) {
            changes = try RequestedChanges(parsing: words)
        } catch {
            throw CommandFailure.usage("--set: \(error)")
        }
        if let setting = changes.configuration.first?.setting {
            throw .usage("--set: \(setting.rawValue) is not a control; use its own option")
        }
        switch changes.controls.map(\.name).first(where: { !$0.isOfCamera }) {
        case nil: return changes.controls
        case .microphoneGain?, .mute?:
            throw .usage("--set is for the camera; for a microphone, use gain= and mute= in --audio")
        case let name?: throw .usage("--set: \(name.rawValue) belongs to the camera appliance (tallycam run)")
        }
    }

    private static func filters(_ texts: [String]) throws(CommandFailure) -> LoadedFilters {
        let chain: FilterChain
        do throws(FilterError) {
            chain = try FilterChain(parsing: texts)
        } catch {
            throw CommandFailure.usage("--filter: \(error)")
        }
        do throws(FilteringError) {
            return try LoadedFilters(chain)
        } catch {
            throw CommandFailure.usage("--filter: \(error)")
        }
    }

    private static func audio(_ texts: [String], isPaced: Bool, movie: MovieChoice?) throws -> AudioInput {
        if let movie, texts.isEmpty { return .movie(movie, isOptional: true) }
        return try AudioInput(parsing: texts.isEmpty ? ["tone"] : texts, isPaced: isPaced, movie: movie)
    }

    private static func cameras(_ arguments: CommandLineArguments) throws -> [NamedCamera] {
        let texts = arguments.values(of: "camera")
        guard texts.isEmpty || arguments["video"] == nil else {
            throw CommandFailure.usage("--video and --camera cannot be combined: each --camera is a video source")
        }
        guard texts.count <= CameraName.mostCameras else {
            throw CommandFailure.usage("--camera: a stream can have at most \(CameraName.mostCameras) cameras")
        }
        var cameras: [NamedCamera] = []
        for text in texts {
            guard let separator = text.firstIndex(of: "=") else {
                throw CommandFailure.usage("--camera must be NAME=SOURCE, not \(quoted(text.prefix(60)))")
            }
            let name = String(text[..<separator])
            if let problem = CameraName.problem(with: name) {
                throw CommandFailure.usage("--camera \(quoted(name.prefix(60))): \(problem)")
            }
            guard !cameras.contains(where: { $0.name == name }) else {
                throw CommandFailure.usage("--camera \(name) is given more than once")
            }
            let input = try Self.value(String(text[text.index(after: separator)...])) { try VideoInput(parsing: $0) }
            guard input.isSwitchable else {
                throw CommandFailure.usage(
                    "--camera \(name): only cameras, test patterns, images and movies can be switched live")
            }
            cameras.append(NamedCamera(name: name, choice: input))
        }
        return cameras
    }

    private func checkCombination(_ arguments: CommandLineArguments) throws {
        guard let file else {
            if arguments.contains("pace") { try SourceOptions.checkPace(publish.media) }
            return
        }
        let ofEncoding = [
            "video", "camera", "audio", "quality", "audio-quality", "dimension", "set", "filter", "encoder",
            "trace", "commands", "preview", "orientation", "pause-image", "time-zone", "timecode",
        ]
        try file.check(arguments, without: ofEncoding + AdaptationOptions.options.map(\.name))
    }

    private static func check(_ media: MediaSettings) throws {
        if media.video.readsStandardInput, media.audio.readsStandardInput {
            throw CommandFailure.usage("--video and --audio cannot both read standard input")
        }
        guard media.video.isNone, media.audio.isNone else { return }
        throw CommandFailure.usage("with --video none and --audio none, there is nothing to publish")
    }

    private static func destinations(
        _ arguments: CommandLineArguments
    ) throws -> (PublishDestinations, warnings: [String]) {
        let authorityFile = arguments["ca"]
        if let problem = authorityFile.flatMap(TLSContext.problem(withAuthorityFile:)) {
            throw CommandFailure.usage("--ca: \(problem)")
        }
        var (destinations, warnings) = try destinations(arguments, authorityFile: authorityFile)
        if authorityFile != nil, !destinations.usesTLS {
            warnings.append("--ca only applies to an rtmps:// URL")
        }
        return (destinations, warnings)
    }

    private static func destinations(
        _ arguments: CommandLineArguments, authorityFile: String?
    ) throws -> (PublishDestinations, warnings: [String]) {
        switch (arguments["url"] ?? environment("TALLYCAM_URL"), arguments["stream"]) {
        case (_, let path?):
            guard arguments["url"] == nil else { throw CommandFailure.usage("--url and --stream cannot be combined") }
            let file = try readStreamFile(path)
            return (
                PublishDestinations(
                    file.stream, path: path, stateDirectory: PublishDestination.standardStateDirectory,
                    authorityFile: authorityFile),
                file.warnings.map { "\(path):\($0)" }
            )
        case (let text?, nil):
            do {
                let url = try RTMPURL(parsing: text)
                return (PublishDestinations([PublishDestination(url: url, authorityFile: authorityFile)]), [])
            } catch {
                let place = arguments["url"] == nil ? "$TALLYCAM_URL" : "--url"
                throw CommandFailure.usage("\(place): \(error)")
            }
        case (nil, nil):
            throw CommandFailure.usage("missing destination: give --url or --stream; see tallycam publish --help")
        }
    }

    /// Converts a module's error about a command line value to a usage failure.
    private static func value<Value>(_ text: String, _ parse: (String) throws -> Value) throws -> Value {
        do {
            return try parse(text)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure.usage("\(error)", code: (error as? QualityError)?.code)
        }
    }

    private static func statusInterval(_ text: String?) throws -> Duration {
        guard let text else { return .seconds(3) }
        guard let seconds = Int(text), (1...30).contains(seconds) else {
            throw CommandFailure.usage("--status-interval must be a whole number of seconds, 1 to 30, not \"\(text)\"")
        }
        return .seconds(seconds)
    }

    private static func reconnectLimit(_ text: String?) throws -> ReconnectPolicy.Limit {
        switch text {
        case nil: return .attempts(3)
        case "endless": return .endless
        case let text?:
            guard let attempts = Int(text), (0...1000).contains(attempts) else {
                throw CommandFailure.usage("--reconnect must be a number of attempts or endless, not \"\(text)\"")
            }
            return .attempts(attempts)
        }
    }

    private static func duration(_ text: String) throws -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds <= 31_536_000 else {
            throw CommandFailure.usage("--duration must be a number of seconds above 0, not \"\(text)\"")
        }
        return .nanoseconds(Int64(seconds * 1e9))
    }
}
