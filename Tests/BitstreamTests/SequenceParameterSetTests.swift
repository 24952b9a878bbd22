import Bitstream
import Media
import SeededNumbers
import Testing

/// Writes SPS fields like an encoder, so that each test shows the contents of its SPS.
struct SPSWriter {
    private var bits: [Bool] = []

    mutating func u(_ value: Int, _ count: Int) {
        for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
    }

    mutating func ue(_ value: Int) {
        let code = value + 1
        let length = Int.bitWidth - code.leadingZeroBitCount
        u(0, length - 1)
        u(code, length)
    }

    mutating func se(_ value: Int) { ue(value > 0 ? 2 * value - 1 : -2 * value) }

    /// The NAL unit: stop bit, zero padding, emulation prevention.
    func unit() -> [UInt8] {
        var padded = bits + [true]
        while padded.count % 8 != 0 { padded.append(false) }
        var unit: [UInt8] = [0x67]
        var zeros = 0
        for index in stride(from: 0, to: padded.count, by: 8) {
            let byte = padded[index..<index + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
            if zeros >= 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }

    /// All fields of a frame-coded 4:2:0 SPS up to the VUI flag.
    static func plain(
        profile: Int = 66, level: Int = 31, columns: Int, rows: Int, crop: (right: Int, bottom: Int)? = nil
    ) -> SPSWriter {
        var writer = SPSWriter()
        writer.u(profile, 8)
        writer.u(0xC0, 8)
        writer.u(level, 8)
        writer.ue(0)
        if profile == 100 {
            writer.ue(1)
            writer.ue(0)
            writer.ue(0)
            writer.u(0, 1)
            writer.u(0, 1)
        }
        writer.ue(0)
        writer.ue(2)
        writer.ue(1)
        writer.u(0, 1)
        writer.ue(columns - 1)
        writer.ue(rows - 1)
        writer.u(1, 1)
        writer.u(1, 1)
        writer.u(crop == nil ? 0 : 1, 1)
        if let crop {
            writer.ue(0)
            writer.ue(crop.right)
            writer.ue(0)
            writer.ue(crop.bottom)
        }
        return writer
    }

    mutating func timing(unitsInTick: Int, timeScale: Int) {
        u(1, 1)  // vui_parameters_present_flag
        u(1, 1)  // aspect ratio
        u(255, 8)
        u(4, 16)
        u(3, 16)
        u(0, 1)  // overscan
        u(1, 1)  // video signal
        u(5, 3)
        u(0, 1)
        u(1, 1)
        u(0x010101, 24)
        u(1, 1)  // chroma location
        ue(0)
        ue(0)
        u(1, 1)
        u(unitsInTick, 32)
        u(timeScale, 32)
        u(1, 1)
    }
}

@Suite struct SequenceParameterSetTests {
    @Test func readsAnOpenH264Unit() throws {
        let set = try SequenceParameterSet(nalUnit: SampleUnits.baselineSPS)
        #expect(set.profile == 66)
        #expect(set.constraintFlags == 0xC0)
        #expect(set.level == 30)
        #expect(set.size == FrameSize(width: 640, height: 480))
    }

    @Test(arguments: [
        (416, 234, 26, 15, 0, 3), (480, 270, 30, 17, 0, 1), (640, 360, 40, 23, 0, 4), (960, 540, 60, 34, 0, 2),
        (1920, 1080, 120, 68, 0, 4), (400, 300, 25, 19, 0, 2), (1280, 720, 80, 45, 0, 0),
    ])
    func appliesTheCroppingOfEachPresetSize(
        width: Int, height: Int, columns: Int, rows: Int, right: Int, bottom: Int
    ) throws {
        var writer = SPSWriter.plain(columns: columns, rows: rows, crop: (right, bottom))
        writer.u(0, 1)
        let set = try SequenceParameterSet(nalUnit: writer.unit())
        #expect(set.size == FrameSize(width: width, height: height))
        #expect(set.codedSize == FrameSize(width: columns * 16, height: rows * 16))
        #expect(set.timing == nil)
    }

    @Test func readsTimingThroughEmulationPrevention() throws {
        var writer = SPSWriter.plain(columns: 40, rows: 30)
        writer.timing(unitsInTick: 1, timeScale: 60)
        let unit = writer.unit()
        #expect(unit.indices.dropFirst(2).contains { unit[$0] == 3 && unit[$0 - 1] == 0 && unit[$0 - 2] == 0 })
        let timing = try #require(try SequenceParameterSet(nalUnit: unit).timing)
        #expect(timing.unitsInTick == 1)
        #expect(timing.timeScale == 60)
        #expect(timing.framesPerSecond == 30)
        #expect(timing.isFixedFrameRate)
    }

    @Test(arguments: [VideoColors.bt709, .bt601, .jpeg]) func colorsAreAddedIfThereWereNone(colors: VideoColors)
        throws
    {
        let before = try SequenceParameterSet(nalUnit: SampleUnits.baselineSPS)
        let unit = try SequenceParameterSet.nalUnit(SampleUnits.baselineSPS, with: colors)
        let after = try SequenceParameterSet(nalUnit: unit)
        #expect(after.colors == colors)
        #expect(after.size == before.size && after.level == before.level && after.timing == before.timing)
        #expect(try SequenceParameterSet.nalUnit(unit, with: colors) == unit)
    }

    /// By hand: profile 66, level 31, 640x480, frames only, no cropping; then flag, 00, 1 101 0 1, 01 01 01, 000000,
    /// stop.
    @Test func bitsMatchTheStandard() throws {
        var writer = SPSWriter.plain(columns: 40, rows: 30)
        writer.u(0, 1)
        var expected = SPSWriter.plain(columns: 40, rows: 30)
        for (value, count) in [(1, 1), (0, 2), (1, 1), (5, 3), (0, 1), (1, 1), (0x010101, 24), (0, 6)] {
            expected.u(value, count)
        }
        #expect(try SequenceParameterSet.nalUnit(writer.unit(), with: .bt709) == expected.unit())
    }

    @Test(arguments: [66, 100]) func colorsAreReplacedAndTheRestOfTheVUIStays(profile: Int) throws {
        var writer = SPSWriter.plain(profile: profile, columns: 80, rows: 45)
        writer.timing(unitsInTick: 1001, timeScale: 60_000)
        writer.u(0, 2)  // no HRDs
        writer.u(1, 1)  // pic_struct_present_flag
        writer.u(0, 1)
        let unit = writer.unit()
        #expect(try SequenceParameterSet(nalUnit: unit).colors == .bt709)
        let changed = try SequenceParameterSet.nalUnit(unit, with: .bt601)
        let set = try SequenceParameterSet(nalUnit: changed)
        let timing = try SequenceParameterSet(nalUnit: unit).timing
        #expect(set.colors == .bt601 && set.timing == timing && timing != nil)
        #expect(try SequenceParameterSet.nalUnit(changed, with: .bt709) == unit)
    }

    @Test func vuiWithoutColorsGetsThem() throws {
        var writer = SPSWriter.plain(columns: 40, rows: 30)
        for (value, count) in [(1, 1), (0, 4), (1, 1), (1, 32), (60, 32), (1, 1), (0, 4)] { writer.u(value, count) }
        let set = try SequenceParameterSet(nalUnit: SequenceParameterSet.nalUnit(writer.unit(), with: .bt709))
        #expect(set.colors == .bt709 && set.timing?.framesPerSecond == 30)
    }

    @Test func recordWithColorsIsOtherwiseUnchanged() throws {
        let record = try AVCDecoderConfigurationRecord(
            sequenceParameterSets: [SampleUnits.baselineSPS], pictureParameterSets: [SampleUnits.pps])
        let colored = record.with(.bt709)
        #expect(try SequenceParameterSet(nalUnit: colored.sequenceParameterSets[0]).colors == .bt709)
        #expect(colored.pictureParameterSets == record.pictureParameterSets && colored.profile == record.profile)
        #expect(try AVCDecoderConfigurationRecord(parsing: colored.bytes) == colored)
    }

    @Test func zeroTimingIsIgnored() throws {
        var writer = SPSWriter.plain(columns: 40, rows: 30)
        writer.timing(unitsInTick: 0, timeScale: 60)
        #expect(try SequenceParameterSet(nalUnit: writer.unit()).timing == nil)
    }

    @Test func readsHighProfileWithScalingLists() throws {
        var writer = SPSWriter()
        writer.u(100, 8)
        writer.u(0, 8)
        writer.u(40, 8)
        writer.ue(3)
        writer.ue(1)
        writer.ue(1)
        writer.ue(2)
        writer.u(0, 1)
        writer.u(1, 1)  // scaling matrix
        writer.u(1, 1)
        writer.se(-8)  // the first list falls back at once
        writer.u(1, 1)
        for _ in 0..<16 { writer.se(1) }
        for _ in 2..<8 { writer.u(0, 1) }
        writer.ue(0)
        writer.ue(1)  // pic_order_cnt_type 1
        writer.u(0, 1)
        writer.se(-2)
        writer.se(3)
        writer.ue(2)
        writer.se(1)
        writer.se(-1)
        writer.ue(4)
        writer.u(0, 1)
        writer.ue(119)
        writer.ue(33)
        writer.u(0, 1)  // fields
        writer.u(0, 1)
        writer.u(1, 1)
        writer.u(1, 1)
        writer.ue(0)
        writer.ue(0)
        writer.ue(0)
        writer.ue(2)
        writer.u(0, 1)
        let set = try SequenceParameterSet(nalUnit: writer.unit())
        #expect(set.identifier == 3)
        #expect(set.lumaBitDepth == 9)
        #expect(set.chromaBitDepth == 10)
        #expect(set.size == FrameSize(width: 1920, height: 1080))
    }

    @Test func refusesUnitsOtherThanSPS() {
        #expect(throws: BitstreamError.truncated(structure: "H.264 sequence parameter set", needed: 4)) {
            try SequenceParameterSet(nalUnit: [])
        }
        #expect(throws: BitstreamError.self) { try SequenceParameterSet(nalUnit: SampleUnits.pps) }
    }

    @Test func refusesCroppingThatLeavesNothing() {
        var writer = SPSWriter.plain(columns: 2, rows: 2, crop: (16, 0))
        writer.u(0, 1)
        #expect(
            throws: BitstreamError.invalid(
                structure: "H.264 sequence parameter set", field: "frame_crop_right_offset", value: 16)
        ) { try SequenceParameterSet(nalUnit: writer.unit()) }
    }

    @Test func everyTruncationIsAnErrorOrTheSameSet() throws {
        var writer = SPSWriter.plain(profile: 100, columns: 80, rows: 45)
        writer.timing(unitsInTick: 1001, timeScale: 60_000)
        let unit = writer.unit()
        let whole = try SequenceParameterSet(nalUnit: unit)
        for length in 0..<unit.count - 1 {
            #expect(throws: BitstreamError.self) { try SequenceParameterSet(nalUnit: Array(unit[..<length])) }
        }
        #expect(whole.timing?.timeScale == 60_000)
    }

    @Test func garbageNeverTraps() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<64, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if !bytes.isEmpty { bytes[0] = 0x67 }
            if bytes.count > 1 { bytes[1] = [66, 77, 100, 244].randomElement(using: &generator) ?? 66 }
            _ = try? SequenceParameterSet(nalUnit: bytes)
            _ = try? SequenceParameterSet.nalUnit(bytes, with: .bt709)
            _ = try? AVCDecoderConfigurationRecord(parsing: [1] + bytes)
            _ = try? AudioSpecificConfig(parsing: bytes)
            bytes.withUnsafeBytes { _ = AnnexBAccessUnit($0) }
        }
    }
}
