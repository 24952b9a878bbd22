/// Reads an FLV file or stream from bytes as they come (FLV 10.1 annexes E.2 and E.3).
///
/// Holds at most what was appended and not read yet; one tag is at most 16 MiB.
public struct FLVReader: Sendable {
    private enum State {
        case header
        /// Before a tag; `owed` bytes of a PreviousTagSize are to be passed over first.
        case tags(owed: Int)
        case failed(BitstreamError)
    }

    private var state = State.header
    private var buffer: [UInt8] = []
    private var position = 0

    private static let structure = "FLV"
    private static let headerSize = 9
    private static let tagHeaderSize = 11
    private static let previousTagSizeSize = 4
    /// The header may grow in later versions (DataOffset); beyond this it is garbage.
    private static let longestHeader = 4096

    public init() {}

    /// Takes bytes that follow those appended before.
    public mutating func append(_ bytes: [UInt8]) {
        discardRead()
        buffer.append(contentsOf: bytes)
    }

    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        discardRead()
        buffer.append(contentsOf: bytes)
    }

    private mutating func discardRead() {
        guard position > 0 else { return }
        buffer.removeSubrange(..<position)
        position = 0
    }

    /// - Returns: the next tag, or `nil` when more bytes are needed.
    /// - Throws: `BitstreamError` when the bytes are no FLV; each later call throws the same.
    public mutating func nextTag() throws(BitstreamError) -> FLVTag? {
        do throws(BitstreamError) {
            switch state {
            case .failed(let error): throw error
            case .header: return try readHeader() ? try readTag() : nil
            case .tags: return try readTag()
            }
        } catch {
            state = .failed(error)
            buffer = []
            position = 0
            throw error
        }
    }

    /// Says that no more bytes come.
    /// - Throws: `BitstreamError.truncated` when the input ends before the header or inside a tag. A missing last
    ///   PreviousTagSize, which a killed recorder leaves out, is no fault. Call it when `nextTag` has given `nil`.
    public func inputEnded() throws(BitstreamError) {
        switch state {
        case .failed(let error): throw error
        case .header: throw .truncated(structure: "FLV header", needed: max(1, Self.headerSize - bytesLeft))
        case .tags(let owed):
            let tagBytes = bytesLeft - owed
            guard tagBytes > 0 else { return }
            let needed =
                tagBytes < Self.tagHeaderSize ? Self.tagHeaderSize : Self.tagHeaderSize + bodySize(at: position + owed)
            guard tagBytes >= needed else { throw .truncated(structure: "FLV tag", needed: needed - tagBytes) }
        }
    }

    private var bytesLeft: Int { buffer.count - position }

    private mutating func readHeader() throws(BitstreamError) -> Bool {
        let signature: [UInt8] = [0x46, 0x4C, 0x56]
        for (byte, expected) in zip(buffer, signature) where byte != expected {
            throw .invalid(structure: "FLV header", field: "signature", value: Int(byte))
        }
        guard bytesLeft >= Self.headerSize else { return false }
        guard buffer[3] == 1 else { throw .invalid(structure: "FLV header", field: "version", value: Int(buffer[3])) }
        let dataOffset = bigEndian(at: 5, bytes: 4)
        guard (Self.headerSize...Self.longestHeader).contains(dataOffset) else {
            throw .invalid(structure: "FLV header", field: "DataOffset", value: dataOffset)
        }
        guard bytesLeft >= dataOffset else { return false }
        position = dataOffset
        state = .tags(owed: Self.previousTagSizeSize)
        return true
    }

    private mutating func readTag() throws(BitstreamError) -> FLVTag? {
        // PreviousTagSize is passed over unread: many writers get it wrong and nothing depends on it.
        if case .tags(let owed) = state, owed > 0 {
            guard bytesLeft >= owed else { return nil }
            position += owed
            state = .tags(owed: 0)
        }
        guard bytesLeft >= 1 else { return nil }
        let type = buffer[position]
        guard type & 0x20 == 0 else { throw .unsupported(structure: "FLV tag", feature: "encryption") }
        guard type & 0xC0 == 0, let kind = FLVTag.Kind(rawValue: type & 0x1F) else {
            throw .invalid(structure: "FLV tag", field: "TagType", value: Int(type))
        }
        guard bytesLeft >= Self.tagHeaderSize else { return nil }
        let end = Self.tagHeaderSize + bodySize(at: position)
        guard bytesLeft >= end else { return nil }
        let low = UInt32(truncatingIfNeeded: bigEndian(at: position + 4, bytes: 3))
        let timestamp = UInt32(buffer[position + 7]) << 24 | low
        let tag = FLVTag(
            kind: kind, timestamp: timestamp, body: Array(buffer[position + Self.tagHeaderSize..<position + end]))
        position += end
        state = .tags(owed: Self.previousTagSizeSize)
        return tag
    }

    /// DataSize of the tag that begins at `index`, whose header must be complete.
    private func bodySize(at index: Int) -> Int { bigEndian(at: index + 1, bytes: 3) }

    private func bigEndian(at index: Int, bytes count: Int) -> Int {
        buffer[index..<index + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
