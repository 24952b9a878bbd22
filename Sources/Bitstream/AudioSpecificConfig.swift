/// The configuration of an AAC decoder (ISO 14496-3 section 1.6.2.1), which is the body of the AAC sequence header in
/// FLV and RTMP.
public struct AudioSpecificConfig: Hashable, Sendable {
    /// The audio object type of the core codec: 2 is AAC-LC.
    public let objectType: UInt8
    /// Samples per second of the core codec.
    public let sampleRate: Int
    /// channelConfiguration: 1 mono, 2 stereo, 7 is 7.1, 0 if a program config element describes the channels.
    public let channelConfiguration: UInt8
    /// Samples per second after spectral band replication; `nil` if the record does not announce it (plain AAC-LC).
    public let extensionSampleRate: Int?

    private static let structure = "AudioSpecificConfig"
    private static let spectralBandReplication: UInt8 = 5
    private static let parametricStereo: UInt8 = 29
    /// Table 1.18; index 15 means that the rate follows in 24 bits.
    private static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// AAC-LC.
    /// - Parameters:
    ///   - sampleRate: 1...16,777,215; a rate outside the table is written explicitly.
    ///   - channelCount: 1...6 or 8.
    public init(sampleRate: Int, channelCount: Int) throws(BitstreamError) {
        guard (1...0xFF_FFFF).contains(sampleRate) else {
            throw .invalid(structure: Self.structure, field: "sample rate", value: sampleRate)
        }
        guard (1...6).contains(channelCount) || channelCount == 8 else {
            throw .invalid(structure: Self.structure, field: "channel count", value: channelCount)
        }
        objectType = 2
        self.sampleRate = sampleRate
        channelConfiguration = channelCount == 8 ? 7 : UInt8(channelCount)
        extensionSampleRate = nil
    }

    /// Parses AAC-LC and related types, and HE-AAC if it is announced at the start of the record.
    public init(parsing bytes: [UInt8]) throws(BitstreamError) {
        var reader = BitReader(bytes, reading: Self.structure)
        var type = try Self.objectType(&reader)
        sampleRate = try Self.sampleRate(&reader)
        channelConfiguration = UInt8(truncatingIfNeeded: try reader.bits(4))
        if type == Self.spectralBandReplication || type == Self.parametricStereo {
            extensionSampleRate = try Self.sampleRate(&reader)
            type = try Self.objectType(&reader)
        } else {
            extensionSampleRate = nil
        }
        objectType = type
        guard channelConfiguration <= 7 else {
            throw .unsupported(structure: Self.structure, feature: "channel configuration \(channelConfiguration)")
        }
    }

    private static func objectType(_ reader: inout BitReader) throws(BitstreamError) -> UInt8 {
        let escape: UInt32 = 31
        let type = try reader.bits(5)
        return UInt8(truncatingIfNeeded: type == escape ? try 32 + reader.bits(6) : type)
    }

    private static func sampleRate(_ reader: inout BitReader) throws(BitstreamError) -> Int {
        let index = Int(try reader.bits(4))
        if index == 15 {
            let rate = Int(try reader.bits(24))
            guard rate > 0 else { throw .invalid(structure: structure, field: "samplingFrequency", value: rate) }
            return rate
        }
        guard index < sampleRates.count else {
            throw .invalid(structure: structure, field: "samplingFrequencyIndex", value: index)
        }
        return sampleRates[index]
    }

    /// Channels that a decoder outputs; `nil` if only a program config element describes them.
    public var channelCount: Int? {
        switch channelConfiguration {
        case 0: nil
        case 7: 8
        default: Int(channelConfiguration)
        }
    }

    /// The encoded record: AAC-LC core fields and a GASpecificConfig for blocks of 1024 samples.
    public var bytes: [UInt8] {
        var writer = BitWriter()
        if let extensionSampleRate {
            Self.write(Self.spectralBandReplication, to: &writer)
            Self.write(rate: sampleRate, to: &writer)
            writer.write(UInt32(channelConfiguration), bits: 4)
            Self.write(rate: extensionSampleRate, to: &writer)
            Self.write(objectType, to: &writer)
        } else {
            Self.write(objectType, to: &writer)
            Self.write(rate: sampleRate, to: &writer)
            writer.write(UInt32(channelConfiguration), bits: 4)
        }
        writer.write(0, bits: 3)  // frameLengthFlag, dependsOnCoreCoder, extensionFlag
        return writer.bytes
    }

    private static func write(_ objectType: UInt8, to writer: inout BitWriter) {
        if objectType < 31 {
            writer.write(UInt32(objectType), bits: 5)
        } else {
            writer.write(31, bits: 5)
            writer.write(UInt32(objectType) - 32, bits: 6)
        }
    }

    private static func write(rate: Int, to writer: inout BitWriter) {
        if let index = sampleRates.firstIndex(of: rate) {
            writer.write(UInt32(index), bits: 4)
        } else {
            writer.write(15, bits: 4)
            writer.write(UInt32(truncatingIfNeeded: rate), bits: 24)
        }
    }
}
