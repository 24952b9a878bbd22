import Media

/// The states of a stream that its owner sees.
public enum StreamState: String, CaseIterable, Sendable {
    /// Never started.
    case unknown
    case connecting
    /// Publishing.
    case connected
    case disconnecting
    /// Ended as asked.
    case disconnected
    case reconnecting
    /// Ended by a fault.
    case error
}

/// Why a connection failed, in the words and with the number of the layer that noticed.
public struct ConnectionFailure: Error, Hashable, Sendable {
    /// A negative number of `EventCode`.
    public let code: Int
    /// For people, without secrets.
    public let text: String
    /// The same attempt will fail again until somebody changes a setting.
    public let isPermanent: Bool

    public init(code: Int, text: String, isPermanent: Bool = false) {
        self.code = code
        self.text = text
        self.isPermanent = isPermanent
    }
}

/// What is being sent, measured since the report before.
public struct StreamStatus: Hashable, Sendable {
    public let videoFramesPerSecond: Double
    public let audioFramesPerSecond: Double
    public let bitrate: Bitrate

    public init(videoFramesPerSecond: Double, audioFramesPerSecond: Double, bitrate: Bitrate) {
        self.videoFramesPerSecond = videoFramesPerSecond
        self.audioFramesPerSecond = audioFramesPerSecond
        self.bitrate = bitrate
    }
}

/// What happened to a stream, for the event list, the console and scripts.
public enum StreamEvent: Hashable, Sendable {
    case connected(server: String)
    case publishing
    case uplinkTooSlow(bitrate: Bitrate)
    /// - Parameters:
    ///   - attempt: from 1.
    ///   - limit: how many there will be; `nil` for no end.
    ///   - delay: how long until it begins.
    case reconnecting(attempt: Int, limit: Int?, delay: Duration)
    case softwareEncoderInUse(reason: String)
    case encoderRestarted(reason: String)
    /// Software goes on; the hardware is still tried, seldom.
    case hardwareEncoderDead(reason: String)
    case stateChanged(StreamState)
    case status(StreamStatus)
    case serverChanged
    case serverChangeFailed(ConnectionFailure)
    /// A failure that leads to another attempt; `code` says at which stage.
    case retry(ConnectionFailure, RetryStage)
    /// The stream has ended by this.
    case failed(EventCode, reason: String)

    /// How far an attempt got before it failed.
    public enum RetryStage: Hashable, Sendable {
        case lookup
        case connect
        case handshake
        /// The stream was being published, or was about to.
        case close
    }
}

extension StreamEvent {
    public var code: EventCode {
        switch self {
        case .connected: .connected
        case .publishing: .publishing
        case .uplinkTooSlow: .uplinkTooSlow
        case .reconnecting: .reconnecting
        case .softwareEncoderInUse: .softwareEncoderInUse
        case .encoderRestarted: .encoderRestarted
        case .hardwareEncoderDead: .hardwareEncoderDead
        case .stateChanged: .stateChanged
        case .status: .status
        case .serverChanged: .serverChanged
        case .serverChangeFailed: .serverChangeFailed
        case .retry(_, .lookup): .retryAfterLookup
        case .retry(_, .connect): .retryAfterConnect
        case .retry(_, .handshake): .retryAfterHandshake
        case .retry(_, .close): .retryAfterClose
        case .failed(let code, _): code
        }
    }

    public var name: String { code.name }

    public enum FieldValue: Hashable, Sendable {
        case text(String)
        case integer(Int)
        case number(Double)
    }

    /// What the event carries besides code and name, in the order and under the names of the event list.
    /// Times are in seconds, rates per second.
    public var fields: [(name: String, value: FieldValue)] {
        switch self {
        case .connected(let server): [("server", .text(server))]
        case .publishing, .serverChanged: []
        case .uplinkTooSlow(let bitrate): [("bitsPerSecond", .integer(bitrate.bitsPerSecond))]
        case .reconnecting(let attempt, let limit, let delay):
            [("attempt", .integer(attempt))] + (limit.map { [("limit", .integer($0))] } ?? [])
                + [("delay", .number(delay.inSeconds))]
        case .softwareEncoderInUse(let reason), .encoderRestarted(let reason), .hardwareEncoderDead(let reason),
            .failed(_, let reason):
            [("reason", .text(reason))]
        case .stateChanged(let state): [("state", .text(state.rawValue))]
        case .status(let status):
            [
                ("videoFramesPerSecond", .number(status.videoFramesPerSecond)),
                ("audioFramesPerSecond", .number(status.audioFramesPerSecond)),
                ("bitsPerSecond", .integer(status.bitrate.bitsPerSecond)),
            ]
        case .serverChangeFailed(let failure), .retry(let failure, _):
            [("cause", .integer(failure.code)), ("reason", .text(failure.text))]
        }
    }
}
