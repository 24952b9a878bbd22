/// Configuration of a receiving session.
public struct ReceiveConfiguration: Sendable {
    /// The answer to a publisher's `connect` or `publish`.
    public enum Answer: Equatable, Sendable {
        case accept
        /// A refusal with this code (`NetConnection.Connect.Rejected`, `NetStream.Publish.BadName`, ...).
        case refuse(code: String, description: String)
        /// No answer.
        case silence
    }

    /// 1528 bytes for the handshake.
    public var randomBytes: [UInt8]
    /// The most payload bytes of an outgoing chunk, at least 1.
    public var chunkSize: Int
    /// Bytes after which the publisher must acknowledge.
    public var announcedWindow: UInt32
    /// Bytes after which acknowledgments are sent if the publisher does not announce a window; zero for none.
    public var acknowledgementWindow: UInt32
    public var limits: ChunkReader.Limits
    public var connectAnswer: Answer
    public var publishAnswer: Answer

    public init(
        randomBytes: [UInt8], chunkSize: Int = 4096, announcedWindow: UInt32 = 2_500_000,
        acknowledgementWindow: UInt32 = 2_500_000,
        limits: ChunkReader.Limits = ChunkReader.Limits(
            messageByteCount: 0xFF_FFFF, chunkStreamCount: 64, bufferedByteCount: 32 << 20),
        connectAnswer: Answer = .accept, publishAnswer: Answer = .accept
    ) {
        self.randomBytes = randomBytes
        self.chunkSize = min(max(chunkSize, 1), 0xFF_FFFF)
        self.announcedWindow = announcedWindow
        self.acknowledgementWindow = acknowledgementWindow
        self.limits = limits
        self.connectAnswer = connectAnswer
        self.publishAnswer = publishAnswer
    }
}

/// Why a receiving session failed.
public enum ReceiveError: Error, Equatable, Sendable {
    case handshakeFailed(version: UInt8)
    case invalidChunks(ChunkError)
    case invalidCommand(AMF0Error)
}

extension ReceiveError: CustomStringConvertible {
    public var description: String {
        switch self {
        // The type of a TLS record that contains a handshake.
        case .handshakeFailed(version: 22): "the publisher speaks TLS; its URL must start with rtmp://, not rtmps://"
        case .handshakeFailed(let version):
            "the publisher started with version \(version) instead of 3; it does not speak RTMP"
        case .invalidChunks(let error): "the publisher sent data that is not RTMP: \(error)"
        case .invalidCommand(let error): "the publisher sent a damaged command: \(error)"
        }
    }
}
