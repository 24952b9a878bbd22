/// Reads bits, most significant first. Every read may reach the end.
struct BitReader {
    private let bytes: [UInt8]
    private let structure: String
    private(set) var bitPosition = 0

    /// - Parameter structure: name of the structure, for errors.
    init(_ bytes: [UInt8], reading structure: String) {
        self.bytes = bytes
        self.structure = structure
    }

    var bitsLeft: Int { bytes.count * 8 - bitPosition }

    /// Reads `count` bits, at most 32.
    mutating func bits(_ count: Int) throws(BitstreamError) -> UInt32 {
        guard count <= bitsLeft else {
            throw .truncated(structure: structure, needed: (count - bitsLeft + 7) / 8)
        }
        var value: UInt32 = 0
        for _ in 0..<count {
            let bit = bytes[bitPosition >> 3] >> UInt8(7 - bitPosition & 7) & 1
            value = value << 1 | UInt32(bit)
            bitPosition += 1
        }
        return value
    }

    mutating func flag() throws(BitstreamError) -> Bool { try bits(1) == 1 }

    /// Reads an unsigned Exp-Golomb code, ue(v) (H.264 section 9.1).
    mutating func unsignedExpGolomb(_ field: String) throws(BitstreamError) -> UInt32 {
        var zeros = 0
        while try !flag() {
            zeros += 1
            // 32 zeros would start a value above UInt32, which no field may have.
            guard zeros < 32 else { throw .invalid(structure: structure, field: field, value: Int(UInt32.max)) }
        }
        return try (1 << UInt32(zeros) - 1) + bits(zeros)
    }

    /// Reads ue(v) and refuses values above `limit`.
    mutating func unsignedExpGolomb(_ field: String, max limit: Int) throws(BitstreamError) -> Int {
        let value = Int(try unsignedExpGolomb(field))
        guard value <= limit else { throw .invalid(structure: structure, field: field, value: value) }
        return value
    }

    /// Reads a signed Exp-Golomb code, se(v) (H.264 section 9.1.1).
    mutating func signedExpGolomb(_ field: String) throws(BitstreamError) -> Int {
        let code = Int(try unsignedExpGolomb(field))
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }
}

/// Writes bits, most significant first, and pads the last byte with zeros.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    mutating func write(_ value: UInt32, bits count: Int) {
        for shift in (0..<count).reversed() {
            if bitCount & 7 == 0 { bytes.append(0) }
            let bit = UInt8(truncatingIfNeeded: value >> UInt32(shift)) & 1
            bytes[bytes.count - 1] |= bit << UInt8(7 - bitCount & 7)
            bitCount += 1
        }
    }
}
