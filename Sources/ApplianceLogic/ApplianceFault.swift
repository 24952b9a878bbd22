import StreamLogic

/// The kinds of things that can be wrong with the device, as the LED counts them out.
public enum ApplianceFault: Int, CaseIterable, Comparable, Sendable {
    /// `stream.json` is missing or wrong.
    case streamFile = 2
    /// `device.json` or `network.json` is wrong, and defaults are used; or an image or table that a file names is.
    case settings = 3
    case camera = 4
    case microphone = 5
    /// No network.
    case network = 6
    /// The server refused the stream, or could not be reached; it may be tried on.
    case server = 7
    case encoder = 8
    /// `board.json`, GPIO lines, the card: what the image or the hardware got wrong.
    case board = 9
    /// The hardware encoder is dead until the machine restarts; software stands in for it.
    case hardwareEncoder = 10

    /// What only a stream finds out, and what may pass by itself.
    static let media: Set<ApplianceFault> = [.camera, .microphone, .encoder]

    /// How often the LED blinks in a row. Nothing blinks once: single blinks are other rhythms.
    public var blinkCount: Int { rawValue }

    /// Whether nothing can be streamed while it lasts. Without a network a start is still taken: the
    /// network may come.
    public var preventsStreaming: Bool {
        switch self {
        case .streamFile, .camera, .encoder: true
        case .settings, .microphone, .network, .server, .board, .hardwareEncoder: false
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
        case .board: "the board's description or hardware is at fault"
        case .hardwareEncoder: "the hardware encoder is dead until the machine restarts, software encodes"
        }
    }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension ApplianceFault {
    /// What the LED shows for a source that was lost.
    public init(lost track: StreamTrack) {
        switch track {
        case .video: self = .camera
        case .audio: self = .microphone
        }
    }

    /// What the LED shows for a stream that failed.
    public init(_ failure: StreamFailure) {
        switch failure.code {
        case .cameraUnavailable, .captureRestartFailed: self = .camera
        case .microphoneUnavailable, .audioInterrupted: self = .microphone
        case .videoEncodingFailed, .audioEncodingFailed, .unsupportedResolution, .unsupportedSampleRate:
            self = .encoder
        default: self = failure.kind == .media ? .encoder : .server
        }
    }
}
