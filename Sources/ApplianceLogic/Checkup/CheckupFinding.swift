import Settings

/// What was found in one step of an examination.
public enum CheckupFinding: Hashable, Sendable {
    case card(CardFinding)
    case network(NetworkFinding)
    case time(TimeFinding)
    case nameLookup(LookupFinding)
    case server(ServerFinding)
    case key(KeyFinding)
    case camera(CameraFinding)
    case encoder(EncoderFinding)
    case microphone(MicrophoneFinding)
    case button(LineFinding)
    /// The status LED, then the flash LED, if `board.json` names them.
    case light([LineFinding])
    case recording(RecordingFinding)
    case notChecked(CheckupStep, SkipReason)
}

/// Why a step was not checked.
public enum SkipReason: Hashable, Sendable {
    /// There was no answer within the step's time limit.
    case late(after: Duration)
    /// There is no usable `stream.json`.
    case noStream
    /// The URL has an address instead of a name.
    case addressGiven
    case nameNotFound
    /// The stream is live, which shows that it works.
    case live
    /// The machine refused something that the step needs.
    case failed(String)
}

public struct CardFinding: Hashable, Sendable {
    /// The folder with the description files.
    public var directory: String
    public var isFolder = true
    /// Faults in the description files.
    public var faults: [FileFault] = []
    /// Why a partition cannot be written; empty if both can.
    public var writeFailures: [String] = []

    public init(directory: String) { self.directory = directory }
}

public struct NetworkFinding: Hashable, Sendable {
    /// Without loopback.
    public var linksUp: [String]
    public var address: String?
    public var hasDefaultRoute: Bool
    /// What is wrong with the Wi-Fi.
    public var wirelessProblem: String?

    public init(linksUp: [String], address: String?, hasDefaultRoute: Bool, wirelessProblem: String? = nil) {
        self.linksUp = linksUp
        self.address = address
        self.hasDefaultRoute = hasDefaultRoute
        self.wirelessProblem = wirelessProblem
    }
}

public struct TimeFinding: Hashable, Sendable {
    public enum Source: Hashable, Sendable {
        /// Tallycam's own start script asked time servers.
        case timeServer
        /// The same, and none of them has answered yet.
        case awaited
        /// Another system sets the clock.
        case system
    }

    public let source: Source
    /// False while the clock shows 1970 or the date of an image.
    public let isPlausible: Bool
    /// In UTC.
    public let text: String
    /// Whether the stream needs the time, for TLS or a signature.
    public let isNeeded: Bool

    public init(_ source: Source, isPlausible: Bool, text: String, isNeeded: Bool) {
        self.source = source
        self.isPlausible = isPlausible
        self.text = text
        self.isNeeded = isNeeded
    }
}

public enum LookupFinding: Hashable, Sendable {
    case found(host: String, addresses: [String])
    case failed(reason: String)
}

public enum ServerFinding: Hashable, Sendable {
    /// - Parameter tls: the version; `nil` without TLS.
    case reached(peer: String, tls: String?)
    /// - Parameter isCertificate: whether TLS failed, rather than TCP.
    case failed(reason: String, isCertificate: Bool)
    /// The stream is live.
    case live(destination: String)
}

public struct KeyFinding: Hashable, Sendable {
    public enum Form: Hashable, Sendable {
        case separate
        /// At the end of the URL.
        case inURL
        /// Signs the URL of each connection.
        case signature
    }

    public enum LastAttempt: Hashable, Sendable {
        case accepted
        case refused(reason: String)
        /// Nothing is known of an attempt.
        case unknown
    }

    /// Stream keys in the examples of faults and documents, which people copy. A check compares the documents.
    private static let exampleKeys: Set = [
        "your-stream-key", "ab12-cd34-ef56", "abcd-efgh-ijkl-mnop-qrst", "live_123456789_abcdef",
        "FB-1234567890-0-AbCdEf",
    ]

    /// - Parameter key: with any query of the service.
    public static func isExample(_ key: String) -> Bool { exampleKeys.contains(String(key.prefix { $0 != "?" })) }

    public let form: Form
    /// Whether it is one of the examples in the documents.
    public let isExample: Bool
    public let lastAttempt: LastAttempt

    public init(_ form: Form, isExample: Bool, _ lastAttempt: LastAttempt) {
        self.form = form
        self.isExample = isExample
        self.lastAttempt = lastAttempt
    }
}

public enum CameraFinding: Hashable, Sendable {
    /// A stream, a screen or a computer has the camera.
    /// - Parameter problem: why it delivers nothing; `nil` if it does.
    case inUse(name: String, problem: String?)
    /// The machine's cameras, and the ones that `device.json` names: empty for the first one.
    case present(DeviceList, wanted: [String])
}

public struct EncoderFinding: Hashable, Sendable {
    /// By its name and path.
    public var hardware: [String]
    /// Devices whose drivers do not answer.
    public var unanswered: [String]
    public var wanted: BoardDescription.Encoder
    /// The stream's encoder; `nil` without a stream.
    public var inUse: String?
    /// Why the hardware encoder is dead; `nil` if it is not.
    public var deadReason: String?

    public init(
        hardware: [String] = [], unanswered: [String] = [], wanted: BoardDescription.Encoder = .auto,
        inUse: String? = nil, deadReason: String? = nil
    ) {
        self.hardware = hardware
        self.unanswered = unanswered
        self.wanted = wanted
        self.inUse = inUse
        self.deadReason = deadReason
    }
}

public struct MicrophoneFinding: Hashable, Sendable {
    public var source: DeviceDescription.AudioSource
    /// Names in `device.json` or `board.json`; empty for the first one.
    public var wanted: [String]
    public var present: DeviceList
    /// Whether a stream has the microphones.
    public var isInUse: Bool
    /// Why one of them delivers nothing.
    public var problem: String?

    public init(
        _ source: DeviceDescription.AudioSource, wanted: [String], present: DeviceList, isInUse: Bool = false,
        problem: String? = nil
    ) {
        self.source = source
        self.wanted = wanted
        self.present = present
        self.isInUse = isInUse
        self.problem = problem
    }
}

/// A button or lamp.
public struct LineFinding: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        case works
        case fails(String)
        /// Another program or driver has it.
        case taken(by: String)
    }

    /// Of `board.json`.
    public let key: String
    /// `nil` if `board.json` names none.
    public let name: String?
    public let state: State

    public init(_ key: String, name: String?, _ state: State = .works) {
        self.key = key
        self.name = name
        self.state = state
    }
}
