/// Numbers in USB byte order, lowest byte first.
struct LittleEndianReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Returns 0 past the end, because a shorter message omits its last fields.
    mutating func next<Number: FixedWidthInteger>(_: Number.Type) -> Number {
        var number = Number.zero
        for index in 0..<Number.bitWidth / 8 {
            guard let byte = rest.popFirst() else { break }
            number |= Number(truncatingIfNeeded: byte) << Number(8 * index)
        }
        return number
    }
}

extension [UInt8] {
    mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for index in 0..<Number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> Number(8 * index))) }
    }
}
