extension SequenceParameterSet {
    /// How many frames a decoder holds back before it shows the first one (annex E.2.1).
    public struct Reordering: Hashable, Sendable {
        /// max_num_reorder_frames: frames that are decoded before a frame that is shown earlier, 0...16.
        public let frames: Int
        /// max_dec_frame_buffering: frames that the decoder has to keep, 0...16.
        public let bufferedFrames: Int
    }

    /// Where a set's bitstream_restriction_flag is, and what follows it.
    private struct Restriction {
        /// The flag's place in the payload; `nil` without a VUI.
        var flagPosition: Int?
        /// Where max_num_reorder_frames starts.
        var reorderingPosition = 0
        var reordering: Reordering?
        let referenceFrames: Int
        /// The end of the fields that were parsed.
        var end = 0
    }

    /// - Parameter nalUnit: the complete NAL unit, including emulation prevention bytes.
    /// - Returns: `nil` if the set does not specify it. Some decoders then hold back as many frames as the level allows.
    /// - Throws: `BitstreamError` if it is not an SPS, ends early or contains forbidden values.
    public static func reordering(of nalUnit: [UInt8]) throws(BitstreamError) -> Reordering? {
        let payload = try rawByteSequence(nalUnit)
        return try restriction(in: payload, end: stopBit(of: payload)).reordering
    }

    /// The set of a stream whose frames are shown in the order in which they are decoded. It says so, and that a decoder keeps no
    /// more than the reference frames. Everything else stays identical bit for bit, and slices do not depend on it.
    /// - Parameter nalUnit: the complete NAL unit, including emulation prevention bytes.
    /// - Returns: the set itself if it already says so.
    /// - Throws: `BitstreamError` if it is not an SPS, ends early or contains forbidden values.
    public static func withoutReordering(_ nalUnit: [UInt8]) throws(BitstreamError) -> [UInt8] {
        let payload = try rawByteSequence(nalUnit)
        let end = try stopBit(of: payload)
        let restriction = try restriction(in: payload, end: end)
        let wanted = Reordering(frames: 0, bufferedFrames: restriction.referenceFrames)
        guard restriction.reordering != wanted else { return nalUnit }
        var copy = BitCopy(payload)
        if restriction.reordering != nil {
            try copy.copy(to: restriction.reorderingPosition)
        } else if let flag = restriction.flagPosition {
            try copy.copy(to: flag)
            copy.writer.writeRestriction()
        } else {
            try copy.copy(to: restriction.end - 1)
            copy.writer.write(1, bits: 1)  // vui_parameters_present_flag
            // Neither aspect ratio, overscan, colors, chroma location, timing, HRDs nor pic_struct.
            copy.writer.write(0, bits: 8)
            copy.writer.writeRestriction()
        }
        copy.writer.writeUnsignedExpGolomb(wanted.frames)
        copy.writer.writeUnsignedExpGolomb(wanted.bufferedFrames)
        copy.skip(to: restriction.end)
        try copy.copy(to: end)
        copy.writer.write(1, bits: 1)  // rbsp_stop_one_bit
        return nalUnit.prefix(1) + withEmulationPrevention(copy.writer.bytes)
    }

    /// - Parameter end: place of the payload's stop bit.
    private static func restriction(in payload: [UInt8], end: Int) throws(BitstreamError) -> Restriction {
        var reader = BitReader(payload, reading: structure)
        var restriction = Restriction(referenceFrames: try SequenceParameterSet(&reader).referenceFrames)
        if try reader.flag() {
            try skipToRestriction(&reader)
            restriction.flagPosition = reader.bitPosition
            if try reader.flag() {
                _ = try reader.flag()  // motion_vectors_over_pic_boundaries_flag
                for field in ["max_bytes_per_pic_denom", "max_bits_per_mb_denom"] {
                    _ = try reader.unsignedExpGolomb(field, max: 16)
                }
                for field in ["log2_max_mv_length_horizontal", "log2_max_mv_length_vertical"] {
                    _ = try reader.unsignedExpGolomb(field, max: 16)
                }
                restriction.reorderingPosition = reader.bitPosition
                restriction.reordering = Reordering(
                    frames: try reader.unsignedExpGolomb("max_num_reorder_frames", max: 16),
                    bufferedFrames: try reader.unsignedExpGolomb("max_dec_frame_buffering", max: 16))
            }
        }
        restriction.end = reader.bitPosition
        // A set that ends early reads its stop bit and the zeros behind it as fields.
        guard restriction.end <= end else { throw .truncated(structure: structure, needed: 1) }
        return restriction
    }

    /// Skips the VUI up to bitstream_restriction_flag (annex E.1.1).
    private static func skipToRestriction(_ reader: inout BitReader) throws(BitstreamError) {
        try skipAspectRatioAndOverscan(&reader)
        _ = try videoSignal(&reader)
        try skipChromaLocation(&reader)
        if try reader.flag() {  // timing
            _ = try reader.bits(32)
            _ = try reader.bits(32)
            _ = try reader.flag()
        }
        let hasNetworkDecoder = try skipReferenceDecoder(&reader)
        let hasCodingDecoder = try skipReferenceDecoder(&reader)
        if hasNetworkDecoder || hasCodingDecoder { _ = try reader.flag() }  // low_delay_hrd_flag
        _ = try reader.flag()  // pic_struct_present_flag
    }

    /// Skips nal_hrd_parameters or vcl_hrd_parameters with its flag (annex E.1.2).
    /// - Returns: whether they are present.
    private static func skipReferenceDecoder(_ reader: inout BitReader) throws(BitstreamError) -> Bool {
        guard try reader.flag() else { return false }
        let count = try reader.unsignedExpGolomb("cpb_cnt_minus1", max: 31) + 1
        _ = try reader.bits(8)  // scales of bit rate and size
        for _ in 0..<count {
            _ = try reader.unsignedExpGolomb("bit_rate_value_minus1")
            _ = try reader.unsignedExpGolomb("cpb_size_value_minus1")
            _ = try reader.flag()
        }
        _ = try reader.bits(20)  // lengths of delays and of the time offset
        return true
    }
}

extension AVCDecoderConfigurationRecord {
    /// The record of a stream whose frames are shown in the order in which they are decoded. Without it, a player may hold back up
    /// to 16 frames. Unchanged if the parameter sets cannot be parsed.
    public var withoutReordering: AVCDecoderConfigurationRecord {
        let sets = sequenceParameterSets.map { (try? SequenceParameterSet.withoutReordering($0)) ?? $0 }
        return (try? AVCDecoderConfigurationRecord(sequenceParameterSets: sets, keepingRestOf: self)) ?? self
    }
}

extension BitWriter {
    /// Writes from bitstream_restriction_flag to log2_max_mv_length_vertical: what applies without them.
    fileprivate mutating func writeRestriction() {
        write(0b11, bits: 2)  // with motion vectors over the frame's boundaries
        for value in [2, 1, 15, 15] { writeUnsignedExpGolomb(value) }
    }

    /// Writes ue(v) (H.264 section 9.1).
    fileprivate mutating func writeUnsignedExpGolomb(_ value: Int) {
        let code = UInt32(value) + 1
        let length = UInt32.bitWidth - code.leadingZeroBitCount
        write(code, bits: 2 * length - 1)
    }
}
