import SeededNumbers
import Testing

@testable import Bitstream

@Suite struct PrecisionTimeStampTests {
    /// The layout of MISB ST 0604, byte by byte.
    @Test func messageHasIdentifierStatusAndSeparatedBytes() {
        let stamp = PrecisionTimeStamp(microseconds: 0x0102_0304_0506_0708, isLocked: true)
        let expected: [UInt8] = [
            0x06, 0x05, 0x1C, 0x4D, 0x49, 0x53, 0x50, 0x6D, 0x69, 0x63, 0x72, 0x6F, 0x73, 0x65, 0x63, 0x74, 0x69, 0x6D,
            0x65, 0x1F, 0x01, 0x02, 0xFF, 0x03, 0x04, 0xFF, 0x05, 0x06, 0xFF, 0x07, 0x08, 0x80,
        ]
        #expect(stamp.nalUnit == expected)
        #expect(PrecisionTimeStamp(microseconds: 0, isLocked: false).nalUnit[19] == 0x9F)
    }

    @Test func messageIsReadBackAndNeverLooksLikeAStartCode() {
        var random = SeededGenerator(seed: 604)
        let corners: [UInt64] = [0, 1, 3, .max, 0x0000_0300_0003_0000, 1_795_700_345_123_456]
        for microseconds in corners + (0..<2000).map({ _ in .random(in: 0...(.max), using: &random) }) {
            let stamp = PrecisionTimeStamp(microseconds: microseconds, isLocked: microseconds % 2 == 0)
            let unit = stamp.nalUnit
            #expect(PrecisionTimeStamp(nalUnit: unit) == stamp)
            let zeros = unit.indices.dropLast(2).filter { unit[$0] == 0 && unit[$0 + 1] == 0 && unit[$0 + 2] <= 3 }
            #expect(zeros.isEmpty)
        }
    }

    @Test func otherUnitsAreNoTimeStamps() {
        let unit = PrecisionTimeStamp(microseconds: 5, isLocked: true).nalUnit
        for length in 0..<unit.count - 1 { #expect(PrecisionTimeStamp(nalUnit: unit.prefix(length)) == nil) }
        for place in 0..<19 {
            var other = unit
            other[place] ^= 1
            #expect(PrecisionTimeStamp(nalUnit: other) == nil)
        }
    }

    @Test func stampIsBetweenParameterSetsAndFirstSlice() {
        let stamp = PrecisionTimeStamp(microseconds: 5, isLocked: true)
        let (sets, message) = ([SampleUnits.baselineSPS, SampleUnits.pps], [0x06, 0x05, 0x00] as [UInt8])
        var payload = SampleUnits.lengthPrefixed(sets + [message, SampleUnits.idr, SampleUnits.idr])
        stamp.insert(into: &payload)
        #expect(
            payload == SampleUnits.lengthPrefixed(sets + [message, stamp.nalUnit, SampleUnits.idr, SampleUnits.idr]))
    }

    @Test func payloadWithoutSliceStaysAsItIs() {
        let stamp = PrecisionTimeStamp(microseconds: 5, isLocked: true)
        for damaged in [[], [0, 0], [0, 0, 0, 9, 6, 5], SampleUnits.lengthPrefixed([SampleUnits.pps])] as [[UInt8]] {
            var payload = damaged
            stamp.insert(into: &payload)
            #expect(payload == damaged)
        }
    }
}
