/// The chunk streams for each kind of message. Any numbers would work (RTMP 1.0 section 5.3.1.1 reserves only 2);
/// servers see these from other publishers.
enum ChunkStreamID {
    static let control: UInt8 = 2
    static let command: UInt8 = 3
    static let audio: UInt8 = 4
    static let data: UInt8 = 5
    static let video: UInt8 = 6
}

/// Splits commands and control messages into chunks (RTMP 1.0 section 5.3). Media, which is not copied, uses
/// `MediaChunker` and `ChunkedMediaMessage` instead. Every message starts with a type 0 header: its absolute timestamp
/// is unambiguous after drops and wraps, for four bytes more than a delta.
public struct ChunkWriter: Sendable {
    /// The most payload bytes of a chunk. Change it only together with sending Set Chunk Size.
    public var chunkSize: Int {
        didSet { chunkSize = Self.clamped(chunkSize) }
    }

    public init(chunkSize: Int = 128) { self.chunkSize = Self.clamped(chunkSize) }

    static func clamped(_ chunkSize: Int) -> Int { min(max(chunkSize, 1), 0xFF_FFFF) }

    /// Appends all chunks of `message`; `chunkStreamID` must be in 2...63. A payload is truncated to 2^24-1 bytes.
    public func append(_ message: Message, chunkStreamID: UInt8, to bytes: inout [UInt8]) {
        let payload = message.payload.prefix(0xFF_FFFF)
        let isExtended = message.timestamp >= 0xFF_FFFF
        bytes.append(chunkStreamID & 0x3F)
        bytes.appendUInt24(isExtended ? 0xFF_FFFF : message.timestamp)
        bytes.appendUInt24(UInt32(payload.count))
        bytes.append(message.type.rawValue)
        bytes.appendLittleEndianUInt32(message.streamID)
        if isExtended { bytes.appendUInt32(message.timestamp) }
        bytes += payload.prefix(chunkSize)
        var position = chunkSize
        while position < payload.count {
            bytes.append(0xC0 | chunkStreamID & 0x3F)
            if isExtended { bytes.appendUInt32(message.timestamp) }
            bytes += payload[position..<min(position + chunkSize, payload.count)]
            position += chunkSize
        }
    }

    func append(_ control: ControlMessage, to bytes: inout [UInt8]) {
        append(control.message, chunkStreamID: ChunkStreamID.control, to: &bytes)
    }

    func append(_ command: Command, streamID: UInt32 = 0, to bytes: inout [UInt8]) {
        append(command.message(streamID: streamID), chunkStreamID: ChunkStreamID.command, to: &bytes)
    }
}
