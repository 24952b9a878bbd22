/// An uncompressed PNG file, made byte by byte (ISO 15948), so that the reader is not tested against its own writer.
struct SmallPNG {
    let file: [UInt8]

    init(
        width: Int, height: Int, depth: UInt8, kind: UInt8, palette: [UInt8] = [], transparency: [UInt8] = [],
        rows: [[UInt8]], texts: Int = 0
    ) {
        var header = Self.big(width) + Self.big(height)
        header += [depth, kind, 0, 0, 0]
        let data = rows.flatMap { [0 as UInt8] + $0 }
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.chunk("IHDR", header)
        // A keyword, the compression method, and a zlib stream of text.
        for _ in 0..<texts { file += Self.chunk("zTXt", Array("a".utf8) + [0, 0] + Self.stored([98, 99])) }
        if !palette.isEmpty { file += Self.chunk("PLTE", palette) }
        if !transparency.isEmpty { file += Self.chunk("tRNS", transparency) }
        self.file = file + Self.chunk("IDAT", Self.stored(data)) + Self.chunk("IEND", [])
    }

    private static func big(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let contents = Array(name.utf8) + data
        return big(data.count) + contents + big(checksum(contents))
    }

    /// CRC-32.
    private static func checksum(_ bytes: [UInt8]) -> Int {
        var sum: UInt32 = .max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return Int(~sum)
    }

    /// zlib's format with stored blocks (RFC 1950, RFC 1951).
    private static func stored(_ data: [UInt8]) -> [UInt8] {
        var (first, second): (UInt32, UInt32) = (1, 0)
        for byte in data {
            first = (first + UInt32(byte)) % 65_521
            second = (second + first) % 65_521
        }
        var result: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: max(1, data.count), by: 60_000) {
            let part = data[start..<min(start + 60_000, data.count)]
            let length = UInt16(part.count)
            result.append(start + 60_000 >= data.count ? 1 : 0)
            result += [UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)] + part
        }
        return result + big(Int(second << 16 | first))
    }
}
