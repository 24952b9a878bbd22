import Media

/// Everything a publish session needs at its start.
public struct PublishConfiguration: Sendable {
    /// How long each answer may take.
    public struct Timeouts: Hashable, Sendable {
        /// From the open connection to the end of the handshake.
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
    /// 1528 bytes for the handshake; also the source of the nonce for servers that ask for a password.
    public var randomBytes: [UInt8]
    /// Sent before the first packet; `nil` when the media brings its own, as an FLV file does.
    public var metadata: StreamMetadata?
    /// The most payload bytes of an outgoing chunk, 4096...65536: in one chunk nearly every message
    /// goes out with a single header, and no known server takes more.
    public var chunkSize = 65_536 {
        didSet { chunkSize = Self.clamped(chunkSize) }
    }
    /// How often the server shall acknowledge, in bytes. Acknowledgements show how much really arrives.
    public var acknowledgementWindow: UInt32 = 100_000
    public var timeouts: Timeouts
    /// The RTMP timestamp of the first frame or audio packet, in milliseconds.
    public var firstTimestamp: UInt32 = 0
    /// Whether the server may ask for another connection: it learns so (`capsEx`), and
    /// `.reconnectRequested` is acted upon.
    public var acceptsReconnectRequest: Bool
    /// MD5, for servers that ask for a password; without it, or without credentials in the URL, publishing
    /// to such a server fails.
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
