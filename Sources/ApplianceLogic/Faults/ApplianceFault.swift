import StreamLogic

/// The kinds of faults of the device, by the LED's blink count.
public enum ApplianceFault: Int, CaseIterable, Comparable, Sendable {
    /// `stream.json` is missing or wrong.
    case streamFile = 2
    /// `device.json` or `network.json` is wrong and defaults are used, or an image or table named in a file is wrong.
    case settings = 3
    case camera = 4
    case microphone = 5
    case network = 6
    /// The server refused the stream or could not be reached. Attempts may continue.
    case server = 7
    case encoder = 8
    /// `board.json`, GPIO lines, the card: faults of the image or the hardware. Also whatever the system refuses, such as memory.
    case board = 9
    /// The hardware encoder is dead until the machine restarts; the software encoder replaces it.
    case hardwareEncoder = 10
    /// The disk cannot be recorded on. Streams go on.
    case recording = 11

    /// Faults of streams that may pass without repair. The board's is that the system refused something.
    static let passing: Set<ApplianceFault> = [.camera, .microphone, .encoder, .board]

    /// How often the LED blinks in a row. No fault blinks once: single blinks have other meanings.
    public var blinkCount: Int { rawValue }

    /// Whether it prevents all streaming. Without a network a start is still accepted, since the network may come up.
    public var preventsStreaming: Bool {
        switch self {
        case .streamFile, .camera, .encoder: true
        case .settings, .microphone, .network, .server, .board, .hardwareEncoder, .recording: false
        }
    }

    /// One line for people.
    public var meaning: String {
        switch self {
        case .streamFile: "stream.json is missing or wrong"
        case .settings: "device.json, network.json or a file that a setting names is wrong"
        case .camera: "no camera"
        case .microphone: "no microphone"
        case .network: "no network"
        case .server: "the server refused the stream or cannot be reached"
        case .encoder: "no video encoder works"
        case .board: "the board's description or hardware is faulty, or the system refused something"
        case .hardwareEncoder: "the hardware encoder is dead until the machine restarts; encoding in software"
        case .recording: "nothing can be recorded"
        }
    }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension ApplianceFault {
    /// The LED's fault for a lost source.
    public init(lost track: StreamTrack) {
        switch track {
        case .video: self = .camera
        case .audio: self = .microphone
        }
    }

    /// The LED's fault for a failed stream.
    public init(_ failure: StreamFailure) {
        switch failure.code {
        case .cameraUnavailable, .captureRestartFailed: self = .camera
        case .microphoneUnavailable, .audioInterrupted: self = .microphone
        case .videoEncodingFailed, .audioEncodingFailed, .unsupportedResolution, .unsupportedSampleRate:
            self = .encoder
        default:
            self =
                switch failure.kind {
                case .media: .encoder
                case .system: .board
                case .settings, .connection, .recording: .server
                }
        }
    }
}
