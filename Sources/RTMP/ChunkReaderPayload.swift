/// The chunk message header types of RTMP 1.0 section 5.3.1.2, by their contents.
enum ChunkFormat: UInt8 {
    /// Type 0: absolute timestamp, length, type, message stream.
    case full
    /// Type 1: timestamp delta, length, type.
    case sameStream
    /// Type 2: timestamp delta.
    case sameHeader
    /// Type 3: nothing.
    case continuation

    init(basicHeader: UInt8) {
        switch basicHeader >> 6 {
        case 0: self = .full
        case 1: self = .sameStream
        case 2: self = .sameHeader
        default: self = .continuation
        }
    }

    var messageHeaderByteCount: Int {
        switch self {
        case .full: 11
        case .sameStream: 7
        case .sameHeader: 3
        case .continuation: 0
        }
    }
}

/// The state of one chunk stream.
struct ReadingChunkStream {
    let id: UInt32
    /// The timestamp of the message in progress, or of the last one.
    var timestamp: UInt32 = 0
    /// The timestamp or delta of the last header, which type 3 headers repeat.
    var timestampField: UInt32 = 0
    var hasExtendedTimestamp = false
    var messageByteCount = 0
    var type = MessageType(rawValue: 0)
    var streamID: UInt32 = 0
    var isMidMessage = false
    var payload: [UInt8] = []
}

// Payload (section 5.3.1 and 5.4).
extension ChunkReader {
    /// A type 3 header was read: either the message continues, or a new one starts with the same header.
    mutating func continueStream() throws(ChunkError) -> Message? {
        streams[current].isMidMessage ? startPayload() : try startMessage(.continuation)
    }

    mutating func startMessage(_ format: ChunkFormat) throws(ChunkError) -> Message? {
        let byteCount = streams[current].messageByteCount
        guard byteCount <= limits.messageByteCount else {
            throw .messageTooLong(byteCount: byteCount, limit: limits.messageByteCount)
        }
        // A type 3 header after a type 0 header adds that header's timestamp, as section 5.3.1.2.4 says.
        let field = streams[current].timestampField
        streams[current].timestamp = format == .full ? field : streams[current].timestamp &+ field
        streams[current].isMidMessage = true
        // Do not trust the announced length; memory grows chunk by chunk.
        streams[current].payload.reserveCapacity(Swift.min(byteCount, 65_536))
        return startPayload()
    }

    private mutating func startPayload() -> Message? {
        chunkRemaining = Swift.min(chunkSize, streams[current].messageByteCount - streams[current].payload.count)
        guard chunkRemaining > 0 else { return finishMessage() }
        wait(for: .payload, byteCount: 0)
        return nil
    }

    mutating func takePayload(
        _ input: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(ChunkError) -> Message? {
        let count = Swift.min(chunkRemaining, input.count - offset)
        streams[current].payload.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[offset..<offset + count]))
        offset += count
        chunkRemaining -= count
        bufferedByteCount += count
        guard bufferedByteCount <= limits.bufferedByteCount else {
            throw .tooManyBufferedBytes(limit: limits.bufferedByteCount)
        }
        guard chunkRemaining == 0 else { return nil }
        guard streams[current].payload.count < streams[current].messageByteCount else {
            let message = finishMessage()
            try apply(message)
            return message
        }
        wait(for: .basicHeader, byteCount: 1)
        return nil
    }

    private mutating func finishMessage() -> Message {
        let message = Message(
            type: streams[current].type, timestamp: streams[current].timestamp,
            streamID: streams[current].streamID, payload: streams[current].payload)
        dropPayload(at: current)
        wait(for: .basicHeader, byteCount: 1)
        return message
    }

    private mutating func dropPayload(at index: Int) {
        bufferedByteCount -= streams[index].payload.count
        streams[index].payload = []
        streams[index].isMidMessage = false
    }

    private mutating func apply(_ message: Message) throws(ChunkError) {
        switch ControlMessage(message) {
        case .setChunkSize(let size):
            guard size > 0, size < 0x8000_0000 else { throw .invalidChunkSize(size) }
            chunkSize = Int(size)
        case .abort(let chunkStreamID):
            if let index = streams.firstIndex(where: { $0.id == chunkStreamID }) { dropPayload(at: index) }
        default: break
        }
    }
}

extension ByteReader {
    /// At most the first four bytes as an integer.
    static func bigEndian(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
