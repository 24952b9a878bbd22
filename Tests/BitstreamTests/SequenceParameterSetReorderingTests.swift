import Media
import SeededNumbers
import Testing

@testable import Bitstream

/// Sets that real encoders have made.
enum RealParameterSets {
    /// OpenH264, 640x480, Baseline.
    static let openH264 = SampleUnits.baselineSPS
    /// The Raspberry Pi's encoder, 1280x720, High.
    static let raspberryPi: [UInt8] = [
        0x27, 0x64, 0x00, 0x28, 0xAC, 0x2B, 0x40, 0x28, 0x02, 0xDD, 0x00, 0xF1, 0x22, 0x6A,
    ]
    /// x264 with three B-frames, 320x240, High.
    static let x264: [UInt8] = [
        0x67, 0xF4, 0x00, 0x0D, 0x91, 0x9B, 0x28, 0x28, 0x3F, 0x60, 0x22, 0x00, 0x00, 0x03,
        0x00, 0x02, 0x00, 0x00, 0x03, 0x00, 0x64, 0x1E, 0x28, 0x53, 0x2C,
    ]
}

@Suite struct SequenceParameterSetReorderingTests {
    typealias Reordering = SequenceParameterSet.Reordering

    /// A VUI from its flag on, up to bitstream_restriction_flag.
    private func usability(hasDecoders: Bool = false) -> SPSWriter {
        var writer = SPSWriter.plain(profile: 100, columns: 80, rows: 45)
        writer.timing(unitsInTick: 1, timeScale: 60)
        for _ in 0..<2 {
            writer.u(hasDecoders ? 1 : 0, 1)
            guard hasDecoders else { continue }
            writer.ue(1)
            writer.u(0x31, 8)
            for value in [4_000_000_000, 999] {
                writer.ue(value)
                writer.ue(value / 2)
                writer.u(1, 1)
            }
            writer.u(0xBDEF7, 20)
        }
        if hasDecoders { writer.u(0, 1) }
        writer.u(1, 1)  // pic_struct_present_flag
        return writer
    }

    private func restricted(reordered: Int, buffered: Int) -> SPSWriter {
        var writer = usability()
        writer.u(0b10, 2)
        for value in [0, 0, 11, 10, reordered, buffered] { writer.ue(value) }
        return writer
    }

    @Test(arguments: [RealParameterSets.openH264, RealParameterSets.raspberryPi])
    func ourEncodersAlreadyExcludeReordering(unit: [UInt8]) throws {
        #expect(try SequenceParameterSet.reordering(of: unit) == Reordering(frames: 0, bufferedFrames: 1))
        #expect(try SequenceParameterSet.withoutReordering(unit) == unit)
        #expect(try SequenceParameterSet(nalUnit: unit).referenceFrames == 1)
    }

    @Test func setOfAnEncoderThatReordersGetsAnotherRestriction() throws {
        let before = try SequenceParameterSet(nalUnit: RealParameterSets.x264)
        #expect(
            try SequenceParameterSet.reordering(of: RealParameterSets.x264)
                == Reordering(frames: 2, bufferedFrames: 4))
        let changed = try SequenceParameterSet.withoutReordering(RealParameterSets.x264)
        #expect(
            try SequenceParameterSet.reordering(of: changed)
                == Reordering(frames: 0, bufferedFrames: before.referenceFrames))
        #expect(try SequenceParameterSet(nalUnit: changed) == before)
        #expect(try SequenceParameterSet.withoutReordering(changed) == changed)
    }

    /// By hand: the flag, eight zeros, the restriction's flag, motion vectors, 2, 1, 15, 15, and then 0 and one reference frame.
    @Test func bitsMatchTheStandard() throws {
        var writer = SPSWriter.plain(columns: 40, rows: 30)
        writer.u(0, 1)
        var expected = SPSWriter.plain(columns: 40, rows: 30)
        for (value, count) in [(1, 1), (0, 8), (3, 2)] { expected.u(value, count) }
        for value in [2, 1, 15, 15, 0, 1] { expected.ue(value) }
        #expect(try SequenceParameterSet.withoutReordering(writer.unit()) == expected.unit())
    }

    @Test(arguments: [false, true]) func restrictionFollowsTheRestOfTheVUI(hasDecoders: Bool) throws {
        var writer = usability(hasDecoders: hasDecoders)
        var expected = writer
        writer.u(0, 1)
        expected.u(3, 2)
        for value in [2, 1, 15, 15, 0, 1] { expected.ue(value) }
        #expect(try SequenceParameterSet.withoutReordering(writer.unit()) == expected.unit())
    }

    @Test(arguments: [(2, 4), (0, 4), (0, 0), (1, 1)])
    func otherRestrictionIsReplaced(reordered: Int, buffered: Int) throws {
        let unit = restricted(reordered: reordered, buffered: buffered).unit()
        #expect(
            try SequenceParameterSet.reordering(of: unit) == Reordering(frames: reordered, bufferedFrames: buffered))
        #expect(
            try SequenceParameterSet.withoutReordering(unit) == restricted(reordered: 0, buffered: 1).unit())
    }

    @Test func sameRestrictionIsLeftAlone() throws {
        let unit = restricted(reordered: 0, buffered: 1).unit()
        #expect(try SequenceParameterSet.withoutReordering(unit) == unit)
    }

    @Test func setThatEndsEarlyIsRefusedAndTheRecordKeepsIt() throws {
        let unit = restricted(reordered: 3, buffered: 4).unit()
        for length in 0..<unit.count - 1 {
            #expect(throws: BitstreamError.self) {
                try SequenceParameterSet.withoutReordering(Array(unit[..<length]))
            }
        }
        // A reserved chroma format: nobody can tell what follows.
        var damaged = SPSWriter()
        for (value, count) in [(100, 8), (0, 8), (31, 8)] { damaged.u(value, count) }
        damaged.ue(0)
        damaged.ue(9)
        let record = try AVCDecoderConfigurationRecord(
            parsing: [1, 100, 0, 31, 0xFF, 0xE1, 0, UInt8(damaged.unit().count)] + damaged.unit() + [0])
        #expect(record.withoutReordering == record)
    }

    @Test func recordGetsTheRestrictionAndKeepsTheRest() throws {
        let record = try AVCDecoderConfigurationRecord(
            sequenceParameterSets: [RealParameterSets.raspberryPi], pictureParameterSets: [SampleUnits.pps])
        let changed = record.withoutReordering
        #expect(
            try SequenceParameterSet.reordering(of: changed.sequenceParameterSets[0])
                == Reordering(frames: 0, bufferedFrames: 1))
        #expect(changed.pictureParameterSets == record.pictureParameterSets && changed.profile == record.profile)
        #expect(changed.highProfileExtension == record.highProfileExtension)
        #expect(try AVCDecoderConfigurationRecord(parsing: changed.bytes) == changed)
    }

    @Test func garbageNeverTraps() {
        var generator = SeededGenerator(seed: 37)
        let sets = [
            RealParameterSets.openH264, RealParameterSets.raspberryPi, usability(hasDecoders: true).unit(),
            restricted(reordered: 3, buffered: 4).unit(),
        ]
        var changedCount = 0
        for round in 0..<20_000 {
            var unit = sets[round % sets.count]
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                unit[Int.random(in: 1..<unit.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let changed = try? SequenceParameterSet.withoutReordering(unit) else { continue }
            changedCount += 1
            let reordering = try? SequenceParameterSet.reordering(of: changed)
            #expect(reordering?.frames == 0)
        }
        #expect(changedCount > 1000)
    }
}
