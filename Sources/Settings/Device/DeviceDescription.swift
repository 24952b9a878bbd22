import Controls
import Filters
import Media

/// What `device.json` says: a person's choices. Every key may be absent; then its default holds, so
/// that an empty object is a good file.
public struct DeviceDescription: Hashable, Sendable {
    public enum AudioSource: String, CaseIterable, Sendable {
        /// The microphone where there is one, else silence.
        case auto
        case microphone
        case silence
        /// No audio track.
        case none
    }

    /// One of several microphones that are mixed.
    public struct Microphone: Hashable, Sendable {
        /// `hw:CARD[,DEVICE]`.
        public var device: String
        public var level: MicrophoneLevel

        public init(device: String, _ level: MicrophoneLevel = MicrophoneLevel()) {
            self.device = device
            self.level = level
        }
    }

    public static let largestMicrophoneCount = 4

    /// What a poor link may do to the frame size.
    public enum Resize: String, CaseIterable, Sendable {
        /// What the service takes.
        case auto
        case never
        case restart
        case seamless
    }

    /// What a dark room does to the video.
    public enum LowLight: String, CaseIterable, Sendable {
        case noisy
        case slow
    }

    /// The frequency of the electricity that lights the room.
    public enum Mains: String, CaseIterable, Sendable {
        /// What the country of `network.json` has.
        case auto
        case hertz50 = "50"
        case hertz60 = "60"
        /// Daylight, or lamps that do not flicker.
        case off
    }

    /// When the board's flash LED is lit.
    public enum Torch: String, CaseIterable, Sendable {
        case off
        case on
        /// While live.
        case live
        /// While live in the dark.
        case auto
    }

    /// Whether the flash LED is lit for a snapshot.
    public enum Flash: String, CaseIterable, Sendable {
        case off
        case on
        /// In the dark.
        case auto
    }

    /// Where the camera's frames are shown, with its state in words, and when.
    public struct Preview: Hashable, Sendable {
        public enum Display: String, CaseIterable, Sendable {
            case off
            /// The first one that is connected.
            case hdmi
        }

        /// When the camera is open for it.
        public enum Camera: String, CaseIterable, Sendable {
            /// While a stream has it open.
            case live
            /// Without a stream, too.
            case always
        }

        public var display = Display.off
        public var camera = Camera.live

        public init() {}
    }

    /// Whether the camera is a webcam for the computer that it is plugged into.
    public enum Webcam: Hashable, Sendable {
        case off
        case on
        /// Somebody at the camera has to agree, by a press of the button, each time that it is plugged in.
        case ask
    }

    /// What two short presses of the button in a row do.
    public enum DoublePress: String, CaseIterable, Sendable {
        /// Nothing of their own: each of them is a press.
        case none
        case snapshot
        /// To the next camera.
        case camera
        case mute
        /// The live stream, until the next one.
        case pause
        case torch
    }

    /// How large a snapshot is that is taken while there is no stream.
    public enum StillSize: String, CaseIterable, Sendable {
        /// All that the camera has.
        case full
        /// `dimension`.
        case stream
    }

    /// What becomes of snapshots that are taken by the button or a command.
    public struct Snapshots: Hashable, Sendable {
        /// `nil` for the state partition's own.
        public var folder: String?
        /// The newest ones that are kept.
        public var count = 20
        public var megabytes = 8
        /// Of the JPEG, 1...100.
        public var quality = 90
        public var flash = Flash.off
        public var size = StillSize.full

        public init() {}
    }

    /// One of several cameras.
    public struct NamedCamera: Hashable, Sendable {
        public let name: String
        /// As `camera`.
        public let source: String
    }

    public enum Orientation: Int, CaseIterable, Sendable {
        case upright = 0
        case clockwise90 = 90
        case upsideDown = 180
        case clockwise270 = 270
    }

    /// "auto", "synthetic", or a camera's own name.
    public var camera = "auto"
    /// Those between which a live stream can be switched, the first of which starts; empty where `camera` is the only one.
    public var cameras: [NamedCamera] = []
    /// The name of a tuning file for the camera's sensor; `nil` for the sensor's own.
    public var cameraTuning: String?
    /// As the command line takes it: "640x480", "720p".
    public var dimension = "640x480"
    public var orientation = Orientation.upright
    public var mirrored = false
    public var lowLight = LowLight.noisy
    public var mains = Mains.auto
    /// What the camera is set to when a stream starts.
    public var controls: [ControlChange] = []
    /// Names of video qualities; the stream starts with `startQuality` and stays within the other two.
    public var startQuality = "Medium1"
    public var lowestQuality = "Low1"
    public var highestQuality = "Medium3"
    public var resize = Resize.auto
    /// As `dimension`, or "auto" for a third of each side.
    public var smallestSize = "auto"
    /// What frames pass on their way to the encoder.
    public var filters = FilterChain()
    public var audioSource = AudioSource.auto
    /// In place of the board's microphone; none for that one, or the first.
    public var microphones: [Microphone] = []
    public var audioQuality = "High2"
    /// `nil` for no end.
    public var reconnectAttempts: Int?
    /// Seconds of media that may wait, 1...5.
    public var bufferDuration = 3.0
    /// Fractions of `bufferDuration`, 0...1; high at least 0.1 above low.
    public var bufferLowThreshold = 0.2
    public var bufferHighThreshold = 0.8
    public var statusInterval: Duration = .seconds(3)
    /// For looking the host up, and for connecting to it.
    public var connectTimeout: Duration = .seconds(5)
    /// For the handshakes of TLS and RTMP, and for each answer of the server.
    public var handshakeTimeout: Duration = .seconds(5)
    public var console = true
    public var startAtBoot = false
    public var torch = Torch.off
    public var doublePress = DoublePress.none
    public var snapshots = Snapshots()
    public var preview = Preview()
    public var webcam = Webcam.off

    public init() {}
}

/// The names that other modules give a meaning to, for checking a file that uses them.
public struct DeviceVocabulary: Sendable {
    /// Lowest first.
    public var videoQualities: [String]
    public var audioQualities: [String]
    /// What is wrong with a frame dimension; `nil` when nothing is.
    public var problemWithDimension: @Sendable (String) -> String?

    public init(
        videoQualities: [String], audioQualities: [String],
        problemWithDimension: @escaping @Sendable (String) -> String?
    ) {
        self.videoQualities = videoQualities
        self.audioQualities = audioQualities
        self.problemWithDimension = problemWithDimension
    }
}

extension DeviceDescription {
    /// A whole file that is right.
    public static let example = #"{"dimension": "640x480", "startAtBoot": true}"#

    /// The defaults, as they are used while something in the file is wrong; but a console and audio that are switched
    /// off stay so, and beside a muted microphone there is silence: the default may be that one.
    /// - Parameter goodPart: what could be read.
    public init(defaultsBeside goodPart: DeviceDescription) {
        self.init()
        console = goodPart.console
        if goodPart.audioSource == .none || goodPart.audioSource == .silence { audioSource = goodPart.audioSource }
        if audioSource == .auto, goodPart.microphones.contains(where: \.level.isMuted) { audioSource = .silence }
    }

    public static func decode(_ json: JSONValue, vocabulary: DeviceVocabulary) -> Decoded<DeviceDescription> {
        json.decode(example: example) { reader in
            var device = DeviceDescription()
            device.readVideo(&reader, vocabulary)
            device.readControls(&reader)
            device.readFilters(&reader)
            device.readQuality(&reader, vocabulary)
            device.readAudio(&reader, vocabulary)
            device.readBuffer(&reader)
            device.readBehaviour(&reader)
            device.readPreview(&reader)
            device.readWebcam(&reader)
            device.readSnapshots(&reader)
            return device
        }
    }

    private mutating func readVideo(_ reader: inout DescriptionReader, _ vocabulary: DeviceVocabulary) {
        readCameras(&reader)
        if let name = reader.name("cameraTuning", example: #""cameraTuning": "imx219_noir""#) {
            cameraTuning = name == "auto" ? nil : name
        }
        let example = #""dimension": "640x480""#
        if let text = reader.text("dimension", example: example) {
            if let problem = vocabulary.problemWithDimension(text.value) {
                reader.report(.invalidValue, "dimension", at: text.position, problem, example: example)
            }
            dimension = text.value
        }
        let degrees = reader.integer(
            "orientation", of: Orientation.allCases.map(\.rawValue), example: #""orientation": 180"#)
        orientation = degrees.flatMap(Orientation.init) ?? orientation
        if let flag = reader.flag("mirrored", example: #""mirrored": true"#) { mirrored = flag.value }
        let light = reader.choice("lowLight", of: LowLight.allCases.map(\.rawValue), example: #""lowLight": "slow""#)
        lowLight = light.flatMap(LowLight.init) ?? lowLight
        let frequency = reader.choice("mains", of: Mains.allCases.map(\.rawValue), example: #""mains": "50""#)
        mains = frequency.flatMap(Mains.init) ?? mains
    }
}
