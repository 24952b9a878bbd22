/// Why bytes are not a chunk stream, or exceed the limits.
public enum ChunkError: Error, Equatable, Sendable {
    /// The first header of a chunk stream refers to an earlier one.
    case missingHeader(chunkStreamID: UInt32)
    /// A new header between the chunks of an unfinished message.
    case interruptedMessage(chunkStreamID: UInt32)
    case tooManyChunkStreams(limit: Int)
    case messageTooLong(byteCount: Int, limit: Int)
    /// Unfinished messages together exceed the limit.
    case tooManyBufferedBytes(limit: Int)
    case invalidChunkSize(UInt32)
}

extension ChunkError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missingHeader(let id): "chunk stream \(id) starts with a header that refers to an earlier one"
        case .interruptedMessage(let id): "chunk stream \(id) starts a message before the last one ended"
        case .tooManyChunkStreams(let limit): "more than \(limit) chunk streams are in use"
        case .messageTooLong(let count, let limit): "a message announces \(count) bytes; the limit is \(limit)"
        case .tooManyBufferedBytes(let limit): "unfinished messages hold more than \(limit) bytes"
        case .invalidChunkSize(let size): "\(size) is not a valid chunk size"
        }
    }
}

/// Assembles messages from chunks (RTMP 1.0 section 5.3). Input may be split anywhere; the work per byte is constant.
/// Set Chunk Size and Abort are applied here and also returned.
///
/// After an error the position in the stream is lost, so the connection must be dropped.
public struct ChunkReader: Sendable {
    public struct Limits: Sendable {
        public var messageByteCount: Int
        public var chunkStreamCount: Int
        /// For all unfinished messages together.
        public var bufferedByteCount: Int

        public init(
            messageByteCount: Int = 1 << 20, chunkStreamCount: Int = 32, bufferedByteCount: Int = 2 << 20
        ) {
            self.messageByteCount = messageByteCount
            self.chunkStreamCount = chunkStreamCount
            self.bufferedByteCount = bufferedByteCount
        }
    }

    enum Phase {
        case basicHeader
        /// The remaining bytes of the chunk stream number, for numbers from 64.
        case longStreamID(ChunkFormat)
        case messageHeader(ChunkFormat)
        case extendedTimestamp(ChunkFormat)
        /// The extended timestamp that type 3 chunks repeat, or payload if the sender omits it.
        case repeatedTimestamp
        case payload
    }

    let limits: Limits
    private var phase = Phase.basicHeader
    /// Header bytes received so far, and how many this phase needs.
    private var gathered: [UInt8] = []
    private var neededByteCount = 1
    /// Bytes read as a repeated timestamp that turned out to be payload.
    private var replay: [UInt8] = []
    var streams: [ReadingChunkStream] = []
    var current = 0
    var chunkRemaining = 0
    var bufferedByteCount = 0
    /// From the peer's last Set Chunk Size.
    public internal(set) var chunkSize = 128

    public init(limits: Limits = Limits()) {
        self.limits = limits
        gathered.reserveCapacity(11)
    }

    /// Consumes `input` from `offset`, up to the end of the next message, and advances `offset`.
    /// - Returns: the message, or `nil` when all input is consumed. Call again until then.
    public mutating func nextMessage(
        in input: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(ChunkError) -> Message? {
        while true {
            if replay.isEmpty {
                guard offset < input.count else { return nil }
                if let message = try step(input, &offset) { return message }
            } else if let message = try stepReplay() {
                return message
            }
        }
    }

    private mutating func stepReplay() throws(ChunkError) -> Message? {
        let bytes = replay
        replay = []
        var used = 0
        let outcome = bytes.withUnsafeBytes { input in
            Result { () throws(ChunkError) in try step(input, &used) }
        }
        replay += bytes[used...]
        return try outcome.get()
    }

    /// Processes one phase with the input from `offset`, which has at least one byte.
    private mutating func step(_ input: UnsafeRawBufferPointer, _ offset: inout Int) throws(ChunkError) -> Message? {
        switch phase {
        case .payload: return try takePayload(input, &offset)
        case .repeatedTimestamp: return try takeRepeatedTimestamp(input, &offset)
        default: break
        }
        let count = Swift.min(neededByteCount - gathered.count, input.count - offset)
        gathered.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[offset..<offset + count]))
        offset += count
        guard gathered.count == neededByteCount else { return nil }
        defer { gathered.removeAll(keepingCapacity: true) }
        switch phase {
        case .basicHeader: return try readBasicHeader()
        case .longStreamID(let format): return try startChunk(format, streamID: longStreamID)
        case .messageHeader(let format): return try readMessageHeader(format)
        case .extendedTimestamp(let format):
            streams[current].timestampField = ByteReader.bigEndian(gathered[...])
            return try startMessage(format)
        case .repeatedTimestamp, .payload: return nil
        }
    }
}

// Headers (section 5.3.1).
extension ChunkReader {
    mutating func wait(for phase: Phase, byteCount: Int) {
        self.phase = phase
        neededByteCount = byteCount
    }

    private mutating func readBasicHeader() throws(ChunkError) -> Message? {
        let first = gathered[0]
        let format = ChunkFormat(basicHeader: first)
        switch first & 0x3F {
        case 0: wait(for: .longStreamID(format), byteCount: 1)
        case 1: wait(for: .longStreamID(format), byteCount: 2)
        case let id: return try startChunk(format, streamID: UInt32(id))
        }
        return nil
    }

    /// The two-byte form is little-endian.
    private var longStreamID: UInt32 {
        64 + UInt32(gathered[0]) + (gathered.count > 1 ? UInt32(gathered[1]) << 8 : 0)
    }

    private mutating func startChunk(_ format: ChunkFormat, streamID: UInt32) throws(ChunkError) -> Message? {
        if current < streams.count, streams[current].id == streamID {
            // The most common case: the same stream again.
        } else if let index = streams.firstIndex(where: { $0.id == streamID }) {
            current = index
        } else {
            // A first header of type 1 is wrong, but librtmp sends its ping response like this.
            guard format == .full || format == .sameStream else { throw .missingHeader(chunkStreamID: streamID) }
            guard streams.count < limits.chunkStreamCount else {
                throw .tooManyChunkStreams(limit: limits.chunkStreamCount)
            }
            streams.append(ReadingChunkStream(id: streamID))
            current = streams.count - 1
        }
        guard format == .continuation else {
            guard !streams[current].isMidMessage else { throw .interruptedMessage(chunkStreamID: streamID) }
            wait(for: .messageHeader(format), byteCount: format.messageHeaderByteCount)
            return nil
        }
        if streams[current].hasExtendedTimestamp {
            wait(for: .repeatedTimestamp, byteCount: 4)
            return nil
        }
        return try continueStream()
    }

    private mutating func readMessageHeader(_ format: ChunkFormat) throws(ChunkError) -> Message? {
        let field: UInt32 = ByteReader.bigEndian(gathered[..<3])
        streams[current].timestampField = field
        streams[current].hasExtendedTimestamp = field == 0xFF_FFFF
        if format != .sameHeader {
            streams[current].messageByteCount = Int(ByteReader.bigEndian(gathered[3..<6]))
            streams[current].type = MessageType(rawValue: gathered[6])
        }
        if format == .full {
            streams[current].streamID = ByteReader.bigEndian(gathered[7..<11]).byteSwapped
        }
        guard streams[current].hasExtendedTimestamp else { return try startMessage(format) }
        wait(for: .extendedTimestamp(format), byteCount: 4)
        return nil
    }

    /// Type 3 chunks repeat the extended timestamp (section 5.3.1.3), but some senders omit it: if the bytes differ
    /// from the timestamp, they are payload.
    private mutating func takeRepeatedTimestamp(
        _ input: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(ChunkError) -> Message? {
        let expected = streams[current].timestampField
        while offset < input.count {
            let byte = input[offset]
            let matches = byte == UInt8(truncatingIfNeeded: expected >> UInt32(24 - 8 * gathered.count))
            gathered.append(byte)
            offset += 1
            guard !matches || gathered.count == 4 else { continue }
            if !matches { replay.insert(contentsOf: gathered, at: 0) }
            gathered.removeAll(keepingCapacity: true)
            return try continueStream()
        }
        return nil
    }
}
