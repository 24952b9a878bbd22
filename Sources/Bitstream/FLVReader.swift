/// Parses an FLV file or stream from bytes as they arrive (FLV 10.1 annexes E.2 and E.3).
///
/// It holds only bytes that were appended but not read yet; a tag has at most 16 MiB. A tag's body shares the buffer it
/// was appended to, so keeping the tag keeps that whole buffer.
public struct FLVReader: Sendable {
    private var buffer: [UInt8] = []
    private var position = 0
    private var hasReadHeader = false
    private var failure: BitstreamError?

    private static let headerSize = 9
    private static let tagHeaderSize = 11
    /// Precedes each tag. It is skipped: many writers get it wrong, and nothing depends on it.
    private static let previousTagSizeSize = 4
    /// The header may grow in later versions (DataOffset); a larger one is garbage.
    private static let longestHeader = 4096

    public init() {}

    /// Appends the next bytes.
    public mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        append(upTo: bytes.count) { room in
            room.copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Lets `fill` write the next bytes directly into the buffer, which saves a copy.
    /// - Parameter fill: receives room for at least `capacity` bytes and returns how many it has written.
    /// - Returns: the result of `fill`.
    @discardableResult
    public mutating func append(
        upTo capacity: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) rethrows -> Int {
        let rest = buffer[position...]
        // Double the buffer, so that a long tag is not moved again and again.
        let capacity = max(capacity, rest.count)
        var count = 0
        // A new buffer each time, because tags share the old one.
        buffer = try [UInt8](unsafeUninitializedCapacity: rest.count + capacity) { room, usedCount in
            let bytes = UnsafeMutableRawBufferPointer(room)
            rest.withUnsafeBytes { bytes.copyMemory(from: $0) }
            usedCount = rest.count
            count = try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[rest.count..<rest.count + capacity]))
            usedCount += min(max(0, count), capacity)
        }
        position = 0
        return count
    }

    /// - Returns: the next tag, or `nil` if more bytes are needed.
    /// - Throws: `BitstreamError` if the bytes are not FLV; each later call throws the same error.
    public mutating func nextTag() throws(BitstreamError) -> FLVTag? {
        if let failure { throw failure }
        do throws(BitstreamError) {
            if !hasReadHeader { guard try readHeader() else { return nil } }
            return try readTag()
        } catch {
            failure = error
            buffer = []
            position = 0
            throw error
        }
    }

    /// Call this after the last byte, when `nextTag` has returned `nil`.
    /// - Throws: `BitstreamError.truncated` if the input ends before the header or inside a tag. The last
    ///   PreviousTagSize may be missing, since a killed recorder omits it.
    public func inputEnded() throws(BitstreamError) {
        if let failure { throw failure }
        guard hasReadHeader else {
            if let signatureFault { throw signatureFault }
            throw .truncated(structure: "FLV header", needed: max(1, Self.headerSize - (end - position)))
        }
        let start = position + Self.previousTagSizeSize
        guard start < end else { return }
        let isHeaderThere = end - start >= Self.tagHeaderSize
        let needed = Self.tagHeaderSize + (isHeaderThere ? bodySize(at: start) : 0)
        guard end - start >= needed else { throw .truncated(structure: "FLV tag", needed: needed - (end - start)) }
    }

    private var end: Int { buffer.count }

    /// - Returns: whether the header is complete, so that tags follow.
    private mutating func readHeader() throws(BitstreamError) -> Bool {
        if let fault = signatureFault {
            // Wait until there are enough bytes to identify the file, or the input ends.
            guard end >= FileKind.sampleSize else { return false }
            throw fault
        }
        guard end >= Self.headerSize else { return false }
        guard buffer[3] == 1 else { throw .invalid(structure: "FLV header", field: "version", value: Int(buffer[3])) }
        let dataOffset = Int(buffer[5]) << 24 | threeBytes(at: 6)
        guard (Self.headerSize...Self.longestHeader).contains(dataOffset) else {
            throw .invalid(structure: "FLV header", field: "DataOffset", value: dataOffset)
        }
        guard end >= dataOffset else { return false }
        position = dataOffset
        hasReadHeader = true
        return true
    }

    /// What is wrong with the signature bytes received so far.
    private var signatureFault: BitstreamError? {
        let signature: [UInt8] = [0x46, 0x4C, 0x56]
        guard let byte = zip(buffer, signature).first(where: { $0 != $1 })?.0 else { return nil }
        if let kind = FileKind(buffer[...]) {
            return .otherFile(structure: "an FLV file", actual: kind.rawValue, isMovie: kind.isMovie)
        }
        return .invalid(structure: "FLV header", field: "signature", value: Int(byte))
    }

    private mutating func readTag() throws(BitstreamError) -> FLVTag? {
        let start = position + Self.previousTagSizeSize
        guard start < end else { return nil }
        let type = buffer[start]
        guard type & 0x20 == 0 else { throw .unsupported(structure: "FLV tag", feature: "encryption") }
        guard type & 0xC0 == 0, let kind = FLVTag.Kind(rawValue: type & 0x1F) else {
            throw .invalid(structure: "FLV tag", field: "TagType", value: Int(type))
        }
        guard end - start >= Self.tagHeaderSize else { return nil }
        let body = start + Self.tagHeaderSize
        let bodyEnd = body + bodySize(at: start)
        guard bodyEnd <= end else { return nil }
        let timestamp = UInt32(buffer[start + 7]) << 24 | UInt32(truncatingIfNeeded: threeBytes(at: start + 4))
        position = bodyEnd
        return FLVTag(kind: kind, timestamp: timestamp, buffer: buffer, body: body..<bodyEnd)
    }

    /// DataSize of the tag at `index`, whose header must be complete.
    private func bodySize(at index: Int) -> Int { threeBytes(at: index + 1) }

    private func threeBytes(at index: Int) -> Int {
        Int(buffer[index]) << 16 | Int(buffer[index + 1]) << 8 | Int(buffer[index + 2])
    }
}
