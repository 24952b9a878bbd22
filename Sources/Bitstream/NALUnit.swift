/// The type of a NAL unit: the low 5 bits of its first byte (H.264 table 7-1).
public struct NALUnitType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }

    /// - Parameter firstByte: the first byte of the NAL unit, after its start code or length.
    public init(firstByte: UInt8) { self.init(rawValue: firstByte) }

    public static let nonIDRSlice = NALUnitType(rawValue: 1)
    public static let idrSlice = NALUnitType(rawValue: 5)
    public static let supplementalEnhancementInformation = NALUnitType(rawValue: 6)
    public static let sequenceParameterSet = NALUnitType(rawValue: 7)
    public static let pictureParameterSet = NALUnitType(rawValue: 8)
    public static let accessUnitDelimiter = NALUnitType(rawValue: 9)
    public static let endOfSequence = NALUnitType(rawValue: 10)
    public static let endOfStream = NALUnitType(rawValue: 11)
    public static let fillerData = NALUnitType(rawValue: 12)

    /// Whether it contains a coded frame or part of one: slices 1 and 5, and data partitions 2 to 4.
    public var isFrame: Bool { (1...5).contains(rawValue) }
}

/// The byte stream format, in which start codes separate the NAL units (H.264 annex B).
public enum AnnexB {
    /// The range of each NAL unit in `bytes`, without its start code and trailing zero bytes (annex B.1). Empty units
    /// and bytes before the first start code are skipped.
    public static func nalUnits(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        var units: [Range<Int>] = []
        var start: Int?
        var index = 0
        while let code = nextStartCode(in: bytes, from: index) {
            if let start { append(start..<code, of: bytes, to: &units) }
            start = code + 3
            index = code + 3
        }
        if let start { append(start..<bytes.count, of: bytes, to: &units) }
        return units
    }

    /// The offset of the next 00 00 01 at or after `from`.
    private static func nextStartCode(in bytes: UnsafeRawBufferPointer, from: Int) -> Int? {
        var index = from
        while let zero = nextZero(in: bytes, from: index), zero + 2 < bytes.count {
            if bytes[zero + 1] == 0, bytes[zero + 2] == 1 { return zero }
            index = zero + 1
        }
        return nil
    }

    /// The offset of the next 00 at or after `from`. Every byte of every frame passes here, and zeros are rare in coded
    /// slices: words are tested whole.
    private static func nextZero(in bytes: UnsafeRawBufferPointer, from: Int) -> Int? {
        var index = from
        while index + 16 <= bytes.count {
            let low = zeroBytes(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let high = zeroBytes(bytes.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self))
            if low != 0 { return index + low.trailingZeroBitCount / 8 }
            if high != 0 { return index + 8 + high.trailingZeroBitCount / 8 }
            index += 16
        }
        return (index..<bytes.count).first { bytes[$0] == 0 }
    }

    /// The lowest bit set is in the first byte that is 0: subtraction borrows into its high bit, which was clear.
    private static func zeroBytes(_ word: UInt64) -> UInt64 {
        let word = UInt64(littleEndian: word)
        return (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    private static func append(_ range: Range<Int>, of bytes: UnsafeRawBufferPointer, to units: inout [Range<Int>]) {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1] == 0 { end -= 1 }
        if end > range.lowerBound { units.append(range.lowerBound..<end) }
    }
}
