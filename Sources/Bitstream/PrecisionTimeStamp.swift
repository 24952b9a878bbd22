/// The absolute time of a frame in its H.264 data: a message of supplemental enhancement information, as MISB ST 0604
/// defines it. Decoders that do not know it skip it.
public struct PrecisionTimeStamp: Hashable, Sendable {
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    public var microseconds: UInt64
    /// Whether the clock follows a reference, such as a time server.
    public var isLocked: Bool

    public init(microseconds: UInt64, isLocked: Bool) {
        self.microseconds = microseconds
        self.isLocked = isLocked
    }

    private static let identifier = Array("MISPmicrosectime".utf8)
    private static let unregisteredUserData: UInt8 = 5
    /// Identifier, status, and eight bytes with three others between them.
    private static let byteCount = 28
    /// Keeps zeros apart, so that the message never looks like a start code.
    private static let separator: UInt8 = 0xFF
    /// Time goes forward without a jump; the low bits are reserved and 1.
    private static let normalStatus: UInt8 = 0x1F
    private static let isNotLocked: UInt8 = 0x80

    /// A NAL unit without start code or length. It needs no emulation prevention.
    public var nalUnit: [UInt8] {
        var bytes = [
            NALUnitType.supplementalEnhancementInformation.rawValue, Self.unregisteredUserData, UInt8(Self.byteCount),
        ]
        bytes += Self.identifier
        bytes.append(Self.normalStatus | (isLocked ? 0 : Self.isNotLocked))
        for pair in 0..<4 {
            if pair > 0 { bytes.append(Self.separator) }
            bytes.append(UInt8(truncatingIfNeeded: microseconds >> (56 - 16 * UInt64(pair))))
            bytes.append(UInt8(truncatingIfNeeded: microseconds >> (48 - 16 * UInt64(pair))))
        }
        bytes.append(0x80)  // rbsp_trailing_bits
        return bytes
    }

    /// - Parameter unit: a NAL unit without start code or length.
    /// - Returns: `nil` for any other unit.
    public init?(nalUnit unit: some Collection<UInt8>) {
        let bytes = Array(unit)
        guard bytes.count >= 3 + Self.byteCount, bytes[0] & 0x1F == 6, bytes[1] == Self.unregisteredUserData,
            bytes[2] == Self.byteCount, bytes[3...].starts(with: Self.identifier)
        else { return nil }
        isLocked = bytes[19] & Self.isNotLocked == 0
        microseconds = 0
        for place in [20, 21, 23, 24, 26, 27, 29, 30] { microseconds = microseconds << 8 | UInt64(bytes[place]) }
    }
}

extension PrecisionTimeStamp {
    /// Inserts it before the first slice of a frame, behind parameter sets and the encoder's own messages.
    /// - Parameter payload: NAL units, each preceded by its length in 4 bytes.
    public func insert(into payload: inout [UInt8]) {
        var offset = 0
        while payload.count - offset > 4 {
            if NALUnitType(firstByte: payload[offset + 4]).isFrame { break }
            let length = payload[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= payload.count - offset - 4 else { return }
            offset += 4 + length
        }
        guard payload.count - offset > 4 else { return }
        let unit = nalUnit
        payload.insert(contentsOf: [0, 0, 0, UInt8(unit.count)] + unit, at: offset)
    }
}
