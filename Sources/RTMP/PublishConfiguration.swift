import Media

/// Everything a publish session needs to start.
public struct PublishConfiguration: Sendable {
    /// How long each answer may take.
    public struct Timeouts: Hashable, Sendable {
        /// From the opened connection to the end of the handshake.
        public var handshake: Duration
        /// For each of connect, createStream and publish.
        public var answer: Duration

        public init(handshake: Duration = .seconds(5), answer: Duration = .seconds(5)) {
            self.handshake = handshake
            self.answer = answer
        }
    }

    public var url: RTMPURL
    /// Program and version, sent to the server in `flashVer` and in the metadata.
    public var encoderName: String
    /// 1528 bytes for the handshake; also the source of the nonce for servers that require a password.
    public var randomBytes: [UInt8]
    /// Sent before the first packet; `nil` if the media contains its own, as an FLV file does.
    public var metadata: StreamMetadata?
    /// The most payload bytes of an outgoing chunk, 4096...65536. With one large chunk, nearly every message needs only
    /// one header, and no known server accepts more.
    public var chunkSize = 65_536 {
        didSet { chunkSize = Self.clamped(chunkSize) }
    }
    /// How often the server must acknowledge, in bytes. Acknowledgments show how much data really arrives.
    public var acknowledgementWindow: UInt32 = 100_000
    public var timeouts: Timeouts
    /// The RTMP timestamp of the first frame or audio packet, in milliseconds.
    public var firstTimestamp: UInt32 = 0
    /// Whether to follow reconnect requests. If so, this is announced to the server (`capsEx`) and
    /// `.reconnectRequested` is reported.
    public var acceptsReconnectRequest: Bool
    /// MD5, for servers that require a password. Without it, or without credentials in the URL, publishing to such a
    /// server fails.
    public var md5: (@Sendable ([UInt8]) -> [UInt8])?

    public init(
        url: RTMPURL, encoderName: String, randomBytes: [UInt8], metadata: StreamMetadata?,
        timeouts: Timeouts = Timeouts(), acceptsReconnectRequest: Bool = false,
        md5: (@Sendable ([UInt8]) -> [UInt8])? = nil
    ) {
        self.url = url
        self.encoderName = encoderName
        self.randomBytes = randomBytes
        self.metadata = metadata
        self.timeouts = timeouts
        self.acceptsReconnectRequest = acceptsReconnectRequest
        self.md5 = md5
    }

    private static func clamped(_ chunkSize: Int) -> Int { min(max(chunkSize, 4096), 65_536) }
}
