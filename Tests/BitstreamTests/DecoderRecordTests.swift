import Bitstream
import Testing

@Suite struct AVCDecoderConfigurationRecordTests {
    @Test func baselineRecordMatchesTheStandard() throws {
        let record = try AVCDecoderConfigurationRecord(
            sequenceParameterSets: [SampleUnits.baselineSPS], pictureParameterSets: [SampleUnits.pps])
        let head: [UInt8] = [1, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0, 14]
        let pictureSets: [UInt8] = [1, 0, 4] + SampleUnits.pps
        #expect(record.bytes == head + SampleUnits.baselineSPS + pictureSets)
        #expect(try AVCDecoderConfigurationRecord(parsing: record.bytes) == record)
    }

    @Test func highProfileRecordHasTheExtension() throws {
        var writer = SPSWriter.plain(profile: 100, level: 40, columns: 80, rows: 45)
        writer.u(0, 1)
        let record = try AVCDecoderConfigurationRecord(
            sequenceParameterSets: [writer.unit()], pictureParameterSets: [SampleUnits.pps])
        #expect(record.bytes.suffix(4) == [0xFD, 0xF8, 0xF8, 0])
        #expect(record.highProfileExtension?.lumaBitDepth == 8)
        #expect(try AVCDecoderConfigurationRecord(parsing: record.bytes) == record)
        let withoutExtension = try AVCDecoderConfigurationRecord(parsing: record.bytes.dropLast(4))
        #expect(withoutExtension.highProfileExtension == nil)
    }

    @Test func refusesMissingAndDamagedSets() {
        #expect(throws: BitstreamError.self) {
            try AVCDecoderConfigurationRecord(sequenceParameterSets: [], pictureParameterSets: [SampleUnits.pps])
        }
        #expect(throws: BitstreamError.self) {
            try AVCDecoderConfigurationRecord(
                sequenceParameterSets: [SampleUnits.baselineSPS], pictureParameterSets: [[]])
        }
        #expect(
            throws: BitstreamError.invalid(
                structure: "AVCDecoderConfigurationRecord", field: "configurationVersion", value: 0)
        ) { try AVCDecoderConfigurationRecord(parsing: [0, 1, 2, 3, 4, 5, 6]) }
    }

    @Test func everyTruncationIsAnError() throws {
        let bytes = try AVCDecoderConfigurationRecord(
            sequenceParameterSets: [SampleUnits.baselineSPS], pictureParameterSets: [SampleUnits.pps]
        ).bytes
        for length in bytes.indices {
            #expect(throws: BitstreamError.self) { try AVCDecoderConfigurationRecord(parsing: Array(bytes[..<length])) }
        }
    }
}

@Suite struct AudioSpecificConfigTests {
    @Test(
        arguments: [
            (44_100, 2, [0x12, 0x10]), (48_000, 2, [0x11, 0x90]), (22_050, 1, [0x13, 0x88]), (11_025, 1, [0x15, 0x08]),
            (48_000, 8, [0x11, 0xB8]),
        ] as [(Int, Int, [UInt8])])
    func lowComplexityTakesTwoBytes(sampleRate: Int, channelCount: Int, expected: [UInt8]) throws {
        let config = try AudioSpecificConfig(sampleRate: sampleRate, channelCount: channelCount)
        #expect(config.bytes == expected)
        let parsed = try AudioSpecificConfig(parsing: expected)
        #expect(parsed == config)
        #expect(parsed.channelCount == channelCount)
    }

    @Test func rateOutsideTheTableIsWrittenExplicitly() throws {
        let config = try AudioSpecificConfig(sampleRate: 44_056, channelCount: 2)
        #expect(config.bytes.count == 5)
        #expect(try AudioSpecificConfig(parsing: config.bytes) == config)
    }

    @Test func acceptsHighEfficiency() throws {
        // Object type 5, core 24 kHz, stereo, extension 48 kHz, then AAC-LC.
        let config = try AudioSpecificConfig(parsing: [0x2B, 0x11, 0x88, 0x00])
        #expect(config.objectType == 2)
        #expect(config.sampleRate == 24_000)
        #expect(config.extensionSampleRate == 48_000)
        #expect(config.channelCount == 2)
        #expect(config.bytes == [0x2B, 0x11, 0x88, 0x00])
    }

    @Test func refusesBadValuesAndTruncation() {
        #expect(throws: BitstreamError.self) { try AudioSpecificConfig(sampleRate: 0, channelCount: 2) }
        let noRate = BitstreamError.invalid(structure: "AudioSpecificConfig", field: "samplingFrequency", value: 0)
        #expect(throws: noRate) { try AudioSpecificConfig(parsing: [0x17, 0x80, 0, 0, 0x10]) }
        #expect(throws: BitstreamError.self) { try AudioSpecificConfig(sampleRate: 44_100, channelCount: 7) }
        #expect(throws: BitstreamError.truncated(structure: "AudioSpecificConfig", needed: 1)) {
            try AudioSpecificConfig(parsing: [0x12])
        }
        #expect(
            throws: BitstreamError.invalid(structure: "AudioSpecificConfig", field: "samplingFrequencyIndex", value: 13)
        ) { try AudioSpecificConfig(parsing: [0x16, 0x90]) }
    }
}
