/// One access unit from an encoder (H.264 annex B), split for FLV and MP4: parameter sets separately, everything else
/// with length prefixes.
public struct AnnexBAccessUnit: Sendable {
    /// The configuration from here on, if the unit contains both an SPS and a PPS.
    public let parameterSets: AVCDecoderConfigurationRecord?
    /// The NAL units, each preceded by its length in 4 bytes, big-endian (ISO 14496-15 section 5.3.4.2), without
    /// parameter sets and access unit delimiters. Empty if nothing is left.
    public let payload: [UInt8]
    /// False if the encoder output only parameter sets, as some do in place of a skipped frame.
    public let containsFrame: Bool
    /// Whether decoding can start here: the frame is an IDR frame.
    public let isKeyframe: Bool

    /// Copies what it needs, so `bytes` may be reused afterwards.
    public init(_ bytes: UnsafeRawBufferPointer) {
        var sequenceSets: [[UInt8]] = []
        var pictureSets: [[UInt8]] = []
        var kept: [Range<Int>] = []
        var keptByteCount = 0
        var containsFrame = false
        var isKeyframe = false
        for unit in AnnexB.nalUnits(in: bytes) {
            let type = NALUnitType(firstByte: bytes[unit.lowerBound])
            switch type {
            case .sequenceParameterSet: sequenceSets.append([UInt8](bytes[unit]))
            case .pictureParameterSet: pictureSets.append([UInt8](bytes[unit]))
            case .accessUnitDelimiter: break
            default:
                kept.append(unit)
                keptByteCount += 4 + unit.count
                containsFrame = containsFrame || type.isFrame
                isKeyframe = isKeyframe || type == .idrSlice
            }
        }
        parameterSets = try? AVCDecoderConfigurationRecord(
            sequenceParameterSets: sequenceSets, pictureParameterSets: pictureSets)
        payload = Self.lengthPrefixed(kept, of: bytes, byteCount: keptByteCount)
        self.containsFrame = containsFrame
        self.isKeyframe = isKeyframe
    }

    private static func lengthPrefixed(
        _ units: [Range<Int>], of bytes: UnsafeRawBufferPointer, byteCount: Int
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initializedCount in
            let target = UnsafeMutableRawBufferPointer(buffer)
            var offset = 0
            for unit in units {
                let length = UInt32(truncatingIfNeeded: unit.count)
                target.storeBytes(of: length.bigEndian, toByteOffset: offset, as: UInt32.self)
                UnsafeMutableRawBufferPointer(rebasing: target[(offset + 4)...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[unit]))
                offset += 4 + unit.count
            }
            initializedCount = byteCount
        }
    }
}
