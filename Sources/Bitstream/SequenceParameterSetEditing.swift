/// Changes to a parameter set bit by bit. What is not changed stays identical.
extension SequenceParameterSet {
    /// The end of the payload: its last bit that is one.
    static func stopBit(of payload: [UInt8]) throws(BitstreamError) -> Int {
        guard let last = payload.lastIndex(where: { $0 != 0 }) else {
            throw .truncated(structure: structure, needed: 1)
        }
        return last * 8 + 7 - payload[last].trailingZeroBitCount
    }

    /// Section 7.4.1.1.
    static func withEmulationPrevention(_ payload: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var zeros = 0
        for byte in payload {
            if zeros >= 2, byte <= 3 {
                bytes.append(3)
                zeros = 0
            }
            bytes.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return bytes
    }
}

/// Copies bits from source to target, skipping some and inserting others.
struct BitCopy {
    private var source: BitReader
    var writer = BitWriter()

    init(_ bytes: [UInt8]) { source = BitReader(bytes, reading: SequenceParameterSet.structure) }

    mutating func copy(to position: Int) throws(BitstreamError) {
        while source.bitPosition < position { writer.write(try source.bits(1), bits: 1) }
    }

    mutating func skip(to position: Int) {
        while source.bitPosition < position, (try? source.bits(1)) != nil {}
    }
}
