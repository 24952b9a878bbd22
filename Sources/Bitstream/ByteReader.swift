/// Reads whole bytes and big-endian numbers. Every read may reach the end.
struct ByteReader {
    private let source: ArraySlice<UInt8>
    private let structure: String
    private var position: Int

    /// - Parameter structure: name of the structure, for errors.
    init(_ bytes: [UInt8], reading structure: String) { self.init(bytes[...], reading: structure) }

    init(_ bytes: ArraySlice<UInt8>, reading structure: String) {
        source = bytes
        self.structure = structure
        position = bytes.startIndex
    }

    var bytesLeft: Int { source.endIndex - position }
    /// The unread bytes.
    var rest: ArraySlice<UInt8> { source[position...] }

    mutating func byte() throws(BitstreamError) -> UInt8 {
        guard bytesLeft >= 1 else { throw .truncated(structure: structure, needed: 1) }
        defer { position += 1 }
        return source[position]
    }

    mutating func bigEndian16() throws(BitstreamError) -> UInt16 {
        try UInt16(byte()) << 8 | UInt16(byte())
    }

    mutating func bigEndian32() throws(BitstreamError) -> UInt32 {
        try UInt32(bigEndian16()) << 16 | UInt32(bigEndian16())
    }

    mutating func bigEndian64() throws(BitstreamError) -> UInt64 {
        try UInt64(bigEndian32()) << 32 | UInt64(bigEndian32())
    }

    mutating func bytes(_ count: Int) throws(BitstreamError) -> [UInt8] { Array(try slice(count)) }

    mutating func skip(_ count: Int) throws(BitstreamError) { _ = try slice(count) }

    /// Does not copy.
    mutating func slice(_ count: Int) throws(BitstreamError) -> ArraySlice<UInt8> {
        guard bytesLeft >= count else { throw .truncated(structure: structure, needed: count - bytesLeft) }
        defer { position += count }
        return source[position..<position + count]
    }
}
