import Media

/// The fields of an H.264 sequence parameter set that matter outside a decoder (section 7.3.2.1.1).
public struct SequenceParameterSet: Hashable, Sendable {
    /// Timing from the VUI (annex E.1.1).
    public struct Timing: Hashable, Sendable {
        public let unitsInTick: UInt32
        public let timeScale: UInt32
        public let isFixedFrameRate: Bool

        /// A frame has two fields, and the tick is a field's.
        public var framesPerSecond: Double { Double(timeScale) / (2 * Double(unitsInTick)) }
    }

    /// The parts of the VUI (annex E.1.1) that are read.
    struct Usability {
        var timing: Timing?
        var colors: VideoColors?
    }

    /// profile_idc: 66 Baseline, 77 Main, 100 High.
    public let profile: UInt8
    /// constraint_set0_flag (high bit) to constraint_set5_flag and two reserved bits.
    public let constraintFlags: UInt8
    /// level_idc: ten times the level.
    public let level: UInt8
    public let identifier: Int
    /// chroma_format_idc: 1 is 4:2:0.
    public let chromaFormat: UInt8
    public let lumaBitDepth: UInt8
    public let chromaBitDepth: UInt8
    /// max_num_ref_frames: decoded frames that a later one may refer to.
    public let referenceFrames: Int
    /// The size shown, after cropping.
    public let size: FrameSize
    /// The coded size, in whole macroblocks.
    public let codedSize: FrameSize
    /// frame_mbs_only_flag: whether every frame is coded as a whole, never as two fields.
    public let isProgressive: Bool
    public private(set) var timing: Timing?
    /// `nil` if the set does not specify colors.
    public private(set) var colors: VideoColors?

    static let structure = "H.264 sequence parameter set"
    /// A longer side is garbage: level 6.2 ends at 16,896 pixels (annex A.3.1).
    private static let longestSideInMacroblocks = 1_056

    /// - Parameter nalUnit: the complete NAL unit, including its first byte and emulation prevention bytes.
    /// - Throws: `BitstreamError` if it is not an SPS, ends early or contains forbidden values.
    public init(nalUnit: [UInt8]) throws(BitstreamError) {
        var reader = BitReader(try Self.rawByteSequence(nalUnit), reading: Self.structure)
        self = try SequenceParameterSet(&reader)
        guard try reader.flag() else { return }
        let usability = try Self.usability(&reader)
        timing = usability.timing
        colors = usability.colors
    }

    /// Parses up to vui_parameters_present_flag.
    init(_ reader: inout BitReader) throws(BitstreamError) {
        profile = UInt8(truncatingIfNeeded: try reader.bits(8))
        constraintFlags = UInt8(truncatingIfNeeded: try reader.bits(8))
        level = UInt8(truncatingIfNeeded: try reader.bits(8))
        identifier = try reader.unsignedExpGolomb("seq_parameter_set_id", max: 31)
        let format = try Self.sampleFormat(&reader, profile: profile)
        chromaFormat = format.chroma
        lumaBitDepth = format.lumaBits
        chromaBitDepth = format.chromaBits
        referenceFrames = try Self.referenceFrames(&reader)
        (codedSize, size, isProgressive) = try Self.sizes(
            &reader, chromaFormat: format.chroma, separatePlanes: format.separatePlanes)
    }

    /// The unit's payload without emulation prevention bytes (section 7.4.1.1).
    static func rawByteSequence(_ nalUnit: [UInt8]) throws(BitstreamError) -> [UInt8] {
        guard let first = nalUnit.first else { throw .truncated(structure: structure, needed: 4) }
        guard first & 0x80 == 0, NALUnitType(firstByte: first) == .sequenceParameterSet else {
            throw .invalid(structure: structure, field: "NAL unit header", value: Int(first))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(nalUnit.count)
        var zeros = 0
        for byte in nalUnit.dropFirst() {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        return bytes
    }

    private struct SampleFormat {
        var chroma: UInt8 = 1
        var separatePlanes = false
        var lumaBits: UInt8 = 8
        var chromaBits: UInt8 = 8
    }

    private static func sampleFormat(_ reader: inout BitReader, profile: UInt8) throws(BitstreamError) -> SampleFormat {
        var format = SampleFormat()
        let withFormat: [UInt8] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]
        guard withFormat.contains(profile) else { return format }
        format.chroma = UInt8(try reader.unsignedExpGolomb("chroma_format_idc", max: 3))
        if format.chroma == 3 { format.separatePlanes = try reader.flag() }
        format.lumaBits = UInt8(try reader.unsignedExpGolomb("bit_depth_luma_minus8", max: 6)) + 8
        format.chromaBits = UInt8(try reader.unsignedExpGolomb("bit_depth_chroma_minus8", max: 6)) + 8
        _ = try reader.flag()  // qpprime_y_zero_transform_bypass_flag
        if try reader.flag() {
            for list in 0..<(format.chroma == 3 ? 12 : 8) where try reader.flag() {
                try skipScalingList(&reader, count: list < 6 ? 16 : 64)
            }
        }
        return format
    }

    /// Section 7.3.2.1.1.1.
    private static func skipScalingList(_ reader: inout BitReader, count: Int) throws(BitstreamError) {
        var scale = 8
        for _ in 0..<count {
            let delta = try reader.signedExpGolomb("delta_scale")
            guard (-128...127).contains(delta) else {
                throw .invalid(structure: structure, field: "delta_scale", value: delta)
            }
            scale = (scale + delta + 256) % 256
            if scale == 0 { return }
        }
    }

    /// Parses log2_max_frame_num_minus4 to gaps_in_frame_num_value_allowed_flag.
    private static func referenceFrames(_ reader: inout BitReader) throws(BitstreamError) -> Int {
        _ = try reader.unsignedExpGolomb("log2_max_frame_num_minus4", max: 12)
        switch try reader.unsignedExpGolomb("pic_order_cnt_type", max: 2) {
        case 0: _ = try reader.unsignedExpGolomb("log2_max_pic_order_cnt_lsb_minus4", max: 12)
        case 1:
            _ = try reader.flag()
            _ = try reader.signedExpGolomb("offset_for_non_ref_pic")
            _ = try reader.signedExpGolomb("offset_for_top_to_bottom_field")
            let count = try reader.unsignedExpGolomb("num_ref_frames_in_pic_order_cnt_cycle", max: 255)
            for _ in 0..<count { _ = try reader.signedExpGolomb("offset_for_ref_frame") }
        default: break
        }
        let count = try reader.unsignedExpGolomb("max_num_ref_frames", max: 16)
        _ = try reader.flag()
        return count
    }

    private static func sizes(
        _ reader: inout BitReader, chromaFormat: UInt8, separatePlanes: Bool
    ) throws(BitstreamError) -> (coded: FrameSize, shown: FrameSize, isProgressive: Bool) {
        let limit = longestSideInMacroblocks - 1
        let columns = try reader.unsignedExpGolomb("pic_width_in_mbs_minus1", max: limit) + 1
        let units = try reader.unsignedExpGolomb("pic_height_in_map_units_minus1", max: limit) + 1
        let framesOnly = try reader.flag()
        if !framesOnly { _ = try reader.flag() }
        _ = try reader.flag()  // direct_8x8_inference_flag
        let fieldFactor = framesOnly ? 1 : 2
        let coded = FrameSize(width: columns * 16, height: units * fieldFactor * 16)
        guard try reader.flag() else { return (coded, coded, framesOnly) }
        // Cropping is counted in chroma samples (equations 7-19 to 7-22).
        let hasSubsampling = !separatePlanes && chromaFormat != 0
        let unitX = hasSubsampling && chromaFormat < 3 ? 2 : 1
        let unitY = (hasSubsampling && chromaFormat == 1 ? 2 : 1) * fieldFactor
        let horizontal = try crop(&reader, "frame_crop_left_offset", "frame_crop_right_offset", unitX, coded.width)
        let vertical = try crop(&reader, "frame_crop_top_offset", "frame_crop_bottom_offset", unitY, coded.height)
        let shown = FrameSize(width: coded.width - horizontal, height: coded.height - vertical)
        return (coded, shown, framesOnly)
    }

    private static func crop(
        _ reader: inout BitReader, _ firstField: String, _ secondField: String, _ unit: Int, _ side: Int
    ) throws(BitstreamError) -> Int {
        let first = try reader.unsignedExpGolomb(firstField, max: side)
        let second = try reader.unsignedExpGolomb(secondField, max: side)
        let pixels = (first + second) * unit
        guard pixels < side else { throw .invalid(structure: structure, field: secondField, value: second) }
        return pixels
    }

    /// Parses annex E.1.1 up to the timing.
    private static func usability(_ reader: inout BitReader) throws(BitstreamError) -> Usability {
        var usability = Usability()
        try skipAspectRatioAndOverscan(&reader)
        usability.colors = try videoSignal(&reader)
        try skipChromaLocation(&reader)
        guard try reader.flag() else { return usability }
        let timing = Timing(
            unitsInTick: try reader.bits(32), timeScale: try reader.bits(32), isFixedFrameRate: try reader.flag())
        // Both must be above zero (annex E.2.1); an encoder that leaves them zero specifies nothing.
        if timing.unitsInTick > 0 && timing.timeScale > 0 { usability.timing = timing }
        return usability
    }

    static func skipAspectRatioAndOverscan(_ reader: inout BitReader) throws(BitstreamError) {
        let extendedAspectRatio: UInt32 = 255
        if try reader.flag(), try reader.bits(8) == extendedAspectRatio { _ = try reader.bits(32) }
        if try reader.flag() { _ = try reader.flag() }  // overscan
    }

    static func skipChromaLocation(_ reader: inout BitReader) throws(BitstreamError) {
        guard try reader.flag() else { return }
        _ = try reader.unsignedExpGolomb("chroma_sample_loc_type_top_field", max: 5)
        _ = try reader.unsignedExpGolomb("chroma_sample_loc_type_bottom_field", max: 5)
    }

    /// Parses from video_signal_type_present_flag on.
    static func videoSignal(_ reader: inout BitReader) throws(BitstreamError) -> VideoColors? {
        guard try reader.flag() else { return nil }
        _ = try reader.bits(3)  // video_format
        let isFullRange = try reader.flag()
        guard try reader.flag() else { return nil }
        let codes = try [reader.bits(8), reader.bits(8), reader.bits(8)].map { UInt8(truncatingIfNeeded: $0) }
        return VideoColors(primaries: codes[0], transfer: codes[1], matrix: codes[2], isFullRange: isFullRange)
    }
}
