import Media

extension SequenceParameterSet {
    /// The set with other colors, for encoders that report wrong colors or none. Everything else stays identical bit
    /// for bit, and slices do not depend on the colors.
    /// - Parameter nalUnit: the complete NAL unit, including emulation prevention bytes.
    /// - Throws: `BitstreamError` if it is not an SPS, or is damaged before the place of the colors.
    public static func nalUnit(_ nalUnit: [UInt8], with colors: VideoColors) throws(BitstreamError) -> [UInt8] {
        let payload = try rawByteSequence(nalUnit)
        let end = try stopBit(of: payload)
        var reader = BitReader(payload, reading: structure)
        _ = try SequenceParameterSet(&reader)
        var copy = BitCopy(payload)
        try copy.copy(to: reader.bitPosition)
        let hasUsability = try reader.flag()
        copy.writer.write(1, bits: 1)
        if hasUsability {
            copy.skip(to: reader.bitPosition)
            try skipAspectRatioAndOverscan(&reader)
            try copy.copy(to: reader.bitPosition)
            _ = try videoSignal(&reader)
        } else {
            copy.writer.write(0, bits: 2)  // neither aspect ratio nor overscan
        }
        copy.writer.write(colors)
        copy.skip(to: reader.bitPosition)
        if hasUsability {
            try copy.copy(to: end)
        } else {
            // No chroma location, timing, HRDs, pic_struct and restrictions.
            copy.writer.write(0, bits: 6)
        }
        copy.writer.write(1, bits: 1)  // rbsp_stop_one_bit
        return nalUnit.prefix(1) + withEmulationPrevention(copy.writer.bytes)
    }
}

extension AVCDecoderConfigurationRecord {
    /// The record with other colors in its parameter sets; unchanged if they cannot be parsed.
    public func with(_ colors: VideoColors) -> AVCDecoderConfigurationRecord {
        let sets = sequenceParameterSets.map { (try? SequenceParameterSet.nalUnit($0, with: colors)) ?? $0 }
        return (try? AVCDecoderConfigurationRecord(sequenceParameterSets: sets, keepingRestOf: self)) ?? self
    }
}

extension BitWriter {
    /// Writes from video_signal_type_present_flag on.
    fileprivate mutating func write(_ colors: VideoColors) {
        let unspecifiedFormat: UInt32 = 5
        write(1, bits: 1)
        write(unspecifiedFormat, bits: 3)
        write(colors.isFullRange ? 1 : 0, bits: 1)
        write(1, bits: 1)
        for code in [colors.primaries, colors.transfer, colors.matrix] { write(UInt32(code), bits: 8) }
    }
}
