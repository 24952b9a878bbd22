/// A box's header: its type and length (ISO 14496-12 section 4.2).
public struct MP4BoxHeader: Hashable, Sendable {
    /// Longest header, without an extended type of 16 bytes.
    public static let longest = 16

    /// Four characters.
    public let type: String
    public let headerByteCount: Int
    /// Size of the content; `nil` if the box extends to the end of its container.
    public let contentByteCount: Int?

    /// - Parameter bytes: the box's first bytes; 16 of them are always enough.
    public init(parsing bytes: [UInt8]) throws(BitstreamError) { try self.init(bytes[...]) }

    init(_ bytes: ArraySlice<UInt8>) throws(BitstreamError) {
        var reader = ByteReader(bytes, reading: MP4Movie.structure)
        let length = try reader.bigEndian32()
        type = String(decoding: try reader.slice(4), as: UTF8.self)
        switch length {
        case 0:
            headerByteCount = 8
            contentByteCount = nil
        case 1:
            let long = try reader.bigEndian64()
            headerByteCount = 16
            guard let long = Int(exactly: long), long >= 16 else {
                throw .invalid(structure: MP4Movie.structure, field: "length of a box", value: Int(clamping: long))
            }
            contentByteCount = long - 16
        default:
            headerByteCount = 8
            guard length >= 8 else {
                throw .invalid(structure: MP4Movie.structure, field: "length of a box", value: Int(length))
            }
            contentByteCount = Int(length) - 8
        }
    }
}

/// A box in memory.
struct MP4Box {
    let type: String
    let content: ArraySlice<UInt8>

    /// The consecutive boxes in these bytes.
    static func all(in bytes: ArraySlice<UInt8>) throws(BitstreamError) -> [MP4Box] {
        var boxes: [MP4Box] = []
        var reader = ByteReader(bytes, reading: MP4Movie.structure)
        // QuickTime may end a list with four zero bytes.
        while reader.bytesLeft >= 8 {
            let header = try MP4BoxHeader(reader.rest)
            try reader.skip(header.headerByteCount)
            let content = try reader.slice(header.contentByteCount ?? reader.bytesLeft)
            boxes.append(MP4Box(type: header.type, content: content))
        }
        return boxes
    }

    var reader: ByteReader { ByteReader(content, reading: MP4Movie.structure) }

    var children: MP4Boxes { get throws(BitstreamError) { MP4Boxes(try MP4Box.all(in: content)) } }
}

/// The boxes within another one.
struct MP4Boxes {
    private let boxes: [MP4Box]

    init(_ boxes: [MP4Box]) { self.boxes = boxes }

    subscript(_ type: String) -> MP4Box? { boxes.first { $0.type == type } }

    func all(_ type: String) -> [MP4Box] { boxes.filter { $0.type == type } }

    func required(_ type: String) throws(BitstreamError) -> MP4Box {
        guard let box = self[type] else {
            throw .unsupported(structure: MP4Movie.structure, feature: "a track without \(type)")
        }
        return box
    }
}

extension ByteReader {
    /// The version and flags at the start of most boxes.
    /// - Returns: the version.
    mutating func versionAndFlags() throws(BitstreamError) -> UInt8 {
        let version = try byte()
        try skip(3)
        return version
    }

    /// 64 bits in version 1, otherwise 32.
    mutating func number(version: UInt8) throws(BitstreamError) -> UInt64 {
        version == 1 ? try bigEndian64() : UInt64(try bigEndian32())
    }
}
