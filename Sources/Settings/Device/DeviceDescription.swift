import Controls
import Filters
import Media

/// The contents of `device.json`: a person's choices. Every key has a default, so an empty object is a valid file.
public struct DeviceDescription: Hashable, Sendable {
    public enum AudioSource: String, CaseIterable, Sendable {
        /// The microphone if there is one, otherwise silence.
        case auto
        case microphone
        case silence
        /// No audio track.
        case none
    }

    /// One of several microphones to mix.
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

    /// Whether a poor link may change the frame size.
    public enum Resize: String, CaseIterable, Sendable {
        /// As the service allows.
        case auto
        case never
        case restart
        case seamless
    }

    /// How the video adapts to a dark room.
    public enum LowLight: String, CaseIterable, Sendable {
        case noisy
        case slow
    }

    /// The mains frequency, at which the room's lamps flicker.
    public enum Mains: String, CaseIterable, Sendable {
        /// By the country in `network.json`.
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

    /// Where and when to show the camera's frames, together with its state as text.
    public struct Preview: Hashable, Sendable {
        public enum Display: String, CaseIterable, Sendable {
            case off
            /// The first connected display.
            case hdmi
        }

        /// When to open the camera for the display.
        public enum Camera: String, CaseIterable, Sendable {
            /// Only while a stream uses it.
            case live
            /// Without a stream as well.
            case always
        }

        public var display = Display.off
        public var camera = Camera.live

        public init() {}
    }

    /// Whether the device is a webcam for the computer it is plugged into.
    public enum Webcam: Hashable, Sendable {
        case off
        case on
        /// A person at the camera must agree by pressing the button, each time it is plugged in.
        case ask
    }

    /// The action of two short presses in quick succession.
    public enum DoublePress: String, CaseIterable, Sendable {
        /// No separate action: each counts as a press.
        case none
        case snapshot
        /// Switches to the next camera.
        case camera
        case mute
        /// Pauses or resumes the live stream.
        case pause
        case torch
        /// Starts or stops a recording.
        case record
    }

    /// The size of snapshots taken without a stream.
    public enum StillSize: String, CaseIterable, Sendable {
        /// The camera's largest size.
        case full
        /// `dimension`.
        case stream
    }

    /// What to do with snapshots taken by the button or a command.
    public struct Snapshots: Hashable, Sendable {
        /// `nil` for the folder on the state partition.
        public var folder: String?
        /// The number of newest snapshots to keep.
        public var count = 20
        public var megabytes = 8
        /// JPEG quality, 1...100.
        public var quality = 90
        public var flash = Flash.off
        public var size = StillSize.full

        public init() {}
    }

    /// What is recorded, where, and how much of it is kept.
    public struct Record: Hashable, Sendable {
        public enum When: String, CaseIterable, Sendable {
            /// By command or button only.
            case command
            /// Whenever a stream is live.
            case live
            /// From power-on, also without a stream and without a network.
            case always
            /// Commands are refused, too.
            case off
        }

        /// What happens when the limits are reached.
        public enum Keep: String, CaseIterable, Sendable {
            /// The oldest recordings go first.
            case newest
            /// Nothing is deleted: the recording stops.
            case all
        }

        public var when = When.command
        /// `nil` for a USB stick if there is one, otherwise the folder on the state partition.
        public var folder: String?
        /// Seconds of each file.
        public var fileSeconds = 60
        /// Minutes of all recordings together; `nil` for no limit.
        public var minutes: Int?
        /// Percent of the disk for all recordings together.
        public var diskPercent = 80
        public var keep = Keep.newest

        public init() {}
    }

    /// One of several cameras.
    public struct NamedCamera: Hashable, Sendable {
        public let name: String
        /// Same form as `camera`.
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
    /// The cameras that a live stream can switch between; the first one is used at the start. Empty if `camera` is the
    /// only one.
    public var cameras: [NamedCamera] = []
    /// Name of a tuning file for the camera's sensor; `nil` for the sensor's default.
    public var cameraTuning: String?
    /// As on the command line: "640x480", "720p".
    public var dimension = "640x480"
    public var orientation = Orientation.upright
    public var mirrored = false
    public var lowLight = LowLight.noisy
    public var mains = Mains.auto
    /// Whether each frame contains the time of day of its capture.
    public var timecode = false
    /// The camera's controls at the start of a stream.
    public var controls: [ControlChange] = []
    /// Names of video qualities, or bit rates such as "3500k"; the stream starts with `startQuality` and stays between the other two.
    public var startQuality = "Medium1"
    public var lowestQuality = "Low1"
    public var highestQuality = "Medium3"
    public var resize = Resize.auto
    /// Same form as `dimension`, or "auto" for a third of each side.
    public var smallestSize = "auto"
    /// Filters applied before encoding, in order.
    public var filters = FilterChain()
    public var audioSource = AudioSource.auto
    /// Replaces the board's microphone; empty to use that one, or the first one found.
    public var microphones: [Microphone] = []
    public var audioQuality = "High2"
    /// `nil` for no limit.
    public var reconnectAttempts: Int?
    /// Seconds of media to buffer, 1...5.
    public var bufferDuration = 3.0
    /// Fractions of `bufferDuration`, 0...1; high at least 0.1 above low.
    public var bufferLowThreshold = 0.2
    public var bufferHighThreshold = 0.8
    public var statusInterval: Duration = .seconds(3)
    /// For name lookup and connecting.
    public var connectTimeout: Duration = .seconds(5)
    /// For the TLS and RTMP handshakes, and for each reply of the server.
    public var handshakeTimeout: Duration = .seconds(5)
    public var console = true
    public var page = PageSetting.http
    public var startAtBoot = false
    public var torch = Torch.off
    public var doublePress = DoublePress.none
    public var snapshots = Snapshots()
    public var record = Record()
    public var preview = Preview()
    public var webcam = Webcam.off

    public init() {}
}

extension DeviceDescription {
    /// A complete correct file.
    public static let example = #"{"dimension": "640x480", "startAtBoot": true}"#

    /// The defaults to use while the file has errors. A console, page or audio that is switched off stays off. If a
    /// microphone is muted, the audio is silence, since the default could select that microphone.
    /// - Parameter goodPart: the readable part of the file.
    public init(defaultsBeside goodPart: DeviceDescription) {
        self.init()
        console = goodPart.console
        page = goodPart.page
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
            device.readBehavior(&reader)
            device.readPreview(&reader)
            device.readWebcam(&reader)
            device.readSnapshots(&reader)
            device.readRecord(&reader)
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
        timecode = reader.flag("timecode", example: #""timecode": true"#)?.value ?? timecode
    }
}
