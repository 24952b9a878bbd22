/// One message split into chunks, ready to be written. The headers are prepared; the payload is shared with its source
/// and not copied.
///
/// On the wire: the first chunk's header and the FLV prefix, then payload, with a continuation header every `chunkSize`
/// bytes of a longer message. All continuation headers of a message are identical, so nothing has to be allocated.
public struct ChunkedMediaMessage: Sendable {
    /// In memory order: 32 bytes for the first chunk's header and the prefix, then 8 bytes for the continuation header,
    /// which is a type 3 header with the extended timestamp if there is one.
    @usableFromInline typealias Headers = (UInt64, UInt64, UInt64, UInt64, UInt64)

    @usableFromInline let headers: Headers
    private let headByteCount: Int
    private let continuationByteCount: Int
    /// Payload bytes in the first chunk and in each later one.
    private let firstChunkByteCount: Int
    private let chunkSize: Int
    private let payloadByteCount: Int
    public let payload: ArraySlice<UInt8>
    /// Size on the wire.
    public let byteCount: Int

    /// The most slices that `withSlices` provides at once. The kernel accepts up to 1024, but these fit on the stack.
    public static let maximumSliceCount = 64

    /// - Parameter prefix: up to 16 bytes of the message before the payload.
    /// - Parameter payload: truncated if the message exceeds 2^24-1 bytes.
    init(
        type: MessageType, timestamp: UInt32, streamID: UInt32, chunkStreamID: UInt8, prefix: MessagePrefix,
        payload: ArraySlice<UInt8>, chunkSize: Int
    ) {
        let isExtended = timestamp >= 0xFF_FFFF
        let length = UInt32(truncatingIfNeeded: min(prefix.byteCount + payload.count, 0xFF_FFFF))
        let chunkSize = max(chunkSize, 128)
        // Basic header, timestamp, length and type are the first eight bytes, in network order.
        let first =
            UInt64(chunkStreamID) << 56 | UInt64(isExtended ? 0xFF_FFFF : timestamp) << 32
            | UInt64(length) << 8 | UInt64(type.rawValue)
        let repeated = isExtended ? UInt64(timestamp) << 24 : 0
        let continuation = UInt64(0xC0 | chunkStreamID) << 56 | repeated
        let headerByteCount = isExtended ? 16 : 12
        var headers: Headers = (first.bigEndian, 0, 0, 0, continuation.bigEndian)
        withUnsafeMutableBytes(of: &headers) { bytes in
            bytes.storeBytes(of: streamID.littleEndian, toByteOffset: 8, as: UInt32.self)
            if isExtended { bytes.storeBytes(of: timestamp.bigEndian, toByteOffset: 12, as: UInt32.self) }
            bytes.storeBytes(of: prefix.bytes.0, toByteOffset: headerByteCount, as: UInt64.self)
            if prefix.byteCount > 8 {
                bytes.storeBytes(of: prefix.bytes.1, toByteOffset: headerByteCount + 8, as: UInt64.self)
            }
        }
        self.headers = headers
        headByteCount = headerByteCount + prefix.byteCount
        continuationByteCount = isExtended ? 5 : 1
        self.chunkSize = chunkSize
        self.payload = payload
        payloadByteCount = Int(length) - prefix.byteCount
        firstChunkByteCount = min(payloadByteCount, chunkSize - prefix.byteCount)
        let rest = payloadByteCount - firstChunkByteCount
        let laterChunks = rest == 0 ? 0 : (rest + chunkSize - 1) / chunkSize
        byteCount = headByteCount + payloadByteCount + laterChunks * continuationByteCount
    }

    /// Provides the bytes from `byteOffset` on as slices in wire order, for `writev`. There are at most
    /// `maximumSliceCount` slices, so a message with very many chunks takes several calls, like a partial write. Beyond
    /// the end there are no slices.
    @inlinable public func withSlices<Result>(
        from byteOffset: Int, _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) throws -> Result
    ) rethrows -> Result {
        try payload.withUnsafeBytes { payload in
            try withUnsafeBytes(of: headers) { headers in
                try withUnsafeTemporaryAllocation(
                    of: UnsafeRawBufferPointer.self, capacity: Self.maximumSliceCount
                ) { slices in
                    let count = fill(slices, from: byteOffset, headers: headers, payload: payload)
                    return try body(UnsafeBufferPointer(rebasing: slices[..<count]))
                }
            }
        }
    }

    @usableFromInline func fill(
        _ slices: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>, from byteOffset: Int,
        headers: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer
    ) -> Int {
        var list = SliceList(slices: slices, toSkip: max(0, byteOffset))
        list.append(UnsafeRawBufferPointer(rebasing: headers[..<headByteCount]))
        list.append(UnsafeRawBufferPointer(rebasing: payload[..<firstChunkByteCount]))
        guard firstChunkByteCount < payloadByteCount else { return list.count }
        let continuation = UnsafeRawBufferPointer(rebasing: headers[32..<32 + continuationByteCount])
        var position = firstChunkByteCount
        // Skip chunks that were already written completely.
        let skipped = min(
            list.toSkip / (chunkSize + continuationByteCount), (payloadByteCount - position) / chunkSize)
        position += skipped * chunkSize
        list.toSkip -= skipped * (chunkSize + continuationByteCount)
        while position < payloadByteCount, list.count < slices.count {
            let next = min(position + chunkSize, payloadByteCount)
            list.append(continuation)
            list.append(UnsafeRawBufferPointer(rebasing: payload[position..<next]))
            position = next
        }
        return list.count
    }
}

/// Collects slices, skipping the first `toSkip` bytes.
private struct SliceList {
    let slices: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
    var toSkip: Int
    var count = 0

    init(slices: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>, toSkip: Int) {
        self.slices = slices
        self.toSkip = toSkip
    }

    /// Bytes that do not fit are ignored.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if toSkip >= bytes.count {
            toSkip -= bytes.count
        } else if count < slices.count {
            slices.initializeElement(at: count, to: UnsafeRawBufferPointer(rebasing: bytes[toSkip...]))
            toSkip = 0
            count += 1
        }
    }
}

/// Bytes of a message that precede its payload but are stored separately.
struct MessagePrefix {
    /// In memory order, the first byte at the lowest address.
    let bytes: (UInt64, UInt64)
    let byteCount: Int

    static let none = MessagePrefix(bytes: (0, 0), byteCount: 0)

    /// An FLV video tag header: frame type and codec, AVC packet type, composition time
    /// (FLV 10.1 annex E.4.3.1).
    static func video(isKeyframe: Bool, isSequenceHeader: Bool, compositionTime: Int32) -> MessagePrefix {
        let first: UInt64 = isKeyframe ? 0x17 : 0x27
        let time = UInt64(UInt32(bitPattern: compositionTime) & 0xFF_FFFF)
        let bytes = first << 56 | (isSequenceHeader ? 0 : 1) << 48 | time << 24
        return MessagePrefix(bytes: (bytes.bigEndian, 0), byteCount: 5)
    }

    /// An FLV audio tag header for AAC, whose flags are fixed (annex E.4.2.1).
    static func audio(isSequenceHeader: Bool) -> MessagePrefix {
        let bytes: UInt64 = 0xAF << 56 | (isSequenceHeader ? 0 : 1) << 48
        return MessagePrefix(bytes: (bytes.bigEndian, 0), byteCount: 2)
    }

    /// `@setDataFrame` as an AMF0 string, 16 bytes: marker, length 13, text.
    static let setDataFrame: MessagePrefix = {
        let bytes = StreamMetadata.setDataFrame
        func word(_ slice: ArraySlice<UInt8>) -> UInt64 { slice.reduce(0) { $0 << 8 | UInt64($1) }.bigEndian }
        return MessagePrefix(bytes: (word(bytes[..<8]), word(bytes[8...])), byteCount: bytes.count)
    }()
}
