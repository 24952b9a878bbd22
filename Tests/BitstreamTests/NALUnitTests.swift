import Bitstream
import SeededNumbers
import Testing

/// SPS and PPS of a real OpenH264 stream, 640x480, Baseline 3.0.
enum SampleUnits {
    static let baselineSPS: [UInt8] = [
        0x67, 0x42, 0xC0, 0x1E, 0x8C, 0x68, 0x0A, 0x03, 0xDA, 0x01, 0xE1, 0x10, 0x8D, 0x40,
    ]
    static let pps: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]
    static let idr: [UInt8] = [0x65, 0xB8, 0x00, 0x04, 0x00, 0x00, 0x03, 0x01, 0xFF]
    static let slice: [UInt8] = [0x41, 0x9A, 0x22]

    static func annexB(_ units: [[UInt8]], startCode: [UInt8] = [0, 0, 0, 1]) -> [UInt8] {
        units.flatMap { startCode + $0 }
    }

    static func lengthPrefixed(_ units: [[UInt8]]) -> [UInt8] {
        units.flatMap { [0, 0, UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
    }
}

@Suite struct AnnexBTests {
    private func units(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.withUnsafeBytes { raw in AnnexB.nalUnits(in: raw).map { [UInt8](raw[$0]) } }
    }

    @Test(arguments: [[0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0, 0, 1]] as [[UInt8]])
    func findsUnitsAfterEveryFormOfStartCode(startCode: [UInt8]) {
        let expected = [SampleUnits.baselineSPS, SampleUnits.pps, SampleUnits.idr]
        #expect(units(SampleUnits.annexB(expected, startCode: startCode)) == expected)
    }

    @Test func skipsEmptyUnitsAndPadding() {
        #expect(units([]) == [])
        #expect(units([0, 0, 1]) == [])
        #expect(units([0, 0, 0, 0]) == [])
        #expect(units([9, 9, 0, 0, 1, 0x65, 7, 0, 0, 0]) == [[0x65, 7]])
        #expect(units([0, 0, 1, 0, 0, 1, 0x41, 1]) == [[0x41, 1]])
    }

    @Test func splitsAnyMixOfSmallBytesLikeAPlainSearch() {
        // All strings of 9 bytes from 0, 1, 2: every way in which start codes can be adjacent.
        for number in 0..<19_683 {
            var rest = number
            let bytes = (0..<9).map { _ -> UInt8 in
                defer { rest /= 3 }
                return UInt8(rest % 3)
            }
            #expect(units(bytes) == plainSearch(bytes))
        }
    }

    @Test func findsStartCodesAtEveryOffsetFromAWord() {
        var generator = SeededGenerator(seed: 1)
        let values: [UInt8] = [0, 0, 0, 1, 2, 127, 128, 255]
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in values[Int.random(in: 0..<8, using: &generator)] }
            #expect(units(bytes) == plainSearch(bytes))
            let withoutZeros = (0..<length).map { UInt8($0 % 255) + 1 }
            let sparse: [UInt8] = withoutZeros + [0, 0, 1, 0x65, 0x80] + bytes
            #expect(units(sparse) == plainSearch(sparse))
        }
    }

    private func plainSearch(_ bytes: [UInt8]) -> [[UInt8]] {
        var codes: [Int] = []
        var index = 0
        while index + 2 < bytes.count {
            if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                codes.append(index)
                index += 3
            } else {
                index += 1
            }
        }
        let ends = codes.dropFirst() + [bytes.count]
        return zip(codes, ends).compactMap { start, end in
            var unit = Array(bytes[(start + 3)..<end])
            while unit.last == 0 { unit.removeLast() }
            return unit.isEmpty ? nil : unit
        }
    }
}

@Suite struct AnnexBAccessUnitTests {
    private func accessUnit(_ units: [[UInt8]]) -> AnnexBAccessUnit {
        SampleUnits.annexB(units).withUnsafeBytes { AnnexBAccessUnit($0) }
    }

    @Test func keyframeIsSeparatedFromItsParameterSets() throws {
        let delimiter: [UInt8] = [0x09, 0x10]
        let information: [UInt8] = [0x06, 0x05, 0x01, 0xAA, 0x80]
        let unit = accessUnit([delimiter, SampleUnits.baselineSPS, SampleUnits.pps, information, SampleUnits.idr])
        let record = try #require(unit.parameterSets)
        #expect(record.sequenceParameterSets == [SampleUnits.baselineSPS])
        #expect(record.pictureParameterSets == [SampleUnits.pps])
        #expect(unit.payload == SampleUnits.lengthPrefixed([information, SampleUnits.idr]))
        #expect(unit.containsFrame)
        #expect(unit.isKeyframe)
    }

    @Test func interFrameOfTwoSlicesKeepsBoth() {
        let unit = accessUnit([SampleUnits.slice, SampleUnits.slice])
        #expect(unit.parameterSets == nil)
        #expect(unit.payload == SampleUnits.lengthPrefixed([SampleUnits.slice, SampleUnits.slice]))
        #expect(unit.containsFrame)
        #expect(!unit.isKeyframe)
    }

    @Test func parameterSetsAloneAreNotAFrame() {
        let unit = accessUnit([SampleUnits.baselineSPS, SampleUnits.pps])
        #expect(unit.parameterSets != nil)
        #expect(unit.payload == [])
        #expect(!unit.containsFrame)
        #expect(!unit.isKeyframe)
    }

    @Test func incompleteParameterSetsAreIgnored() {
        #expect(accessUnit([SampleUnits.baselineSPS, SampleUnits.idr]).parameterSets == nil)
        #expect(accessUnit([SampleUnits.pps, SampleUnits.idr]).parameterSets == nil)
        #expect(accessUnit([[0x67, 0x42], SampleUnits.pps, SampleUnits.idr]).parameterSets == nil)
    }

    @Test func emptyInputIsAnEmptyUnit() {
        let unit = accessUnit([])
        #expect(unit.payload.isEmpty && !unit.containsFrame && unit.parameterSets == nil)
    }
}
