/// Reads whole bytes and big-endian numbers; every read may find the end.
struct ByteReader {
    private let source: [UInt8]
    private let structure: String
    private var position = 0

    /// - Parameter structure: what the bytes are, for the error.
    init(_ bytes: [UInt8], reading structure: String) {
        source = bytes
        self.structure = structure
    }

    var bytesLeft: Int { source.count - position }

    mutating func byte() throws(BitstreamError) -> UInt8 {
        guard bytesLeft >= 1 else { throw .truncated(structure: structure, needed: 1) }
        defer { position += 1 }
        return source[position]
    }

    mutating func bigEndian16() throws(BitstreamError) -> UInt16 {
        try UInt16(byte()) << 8 | UInt16(byte())
    }

    mutating func bytes(_ count: Int) throws(BitstreamError) -> [UInt8] {
        guard bytesLeft >= count else { throw .truncated(structure: structure, needed: count - bytesLeft) }
        defer { position += count }
        return Array(source[position..<position + count])
    }
}
