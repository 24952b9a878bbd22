import Media

/// The bit rate and sample rate of AAC-LC. Bit rates count all channels together.
public struct AudioQuality: Hashable, Sendable {
    /// The part of `name` for the bit rate: "High2".
    public let presetName: String
    public let bitrate: Bitrate
    /// Samples per second of each channel.
    public let sampleRate: Int

    private init(_ presetName: String, kilobits: Int, sampleRate: Int = 44_100) {
        self.presetName = presetName
        bitrate = Bitrate(kilobitsPerSecond: kilobits)
        self.sampleRate = sampleRate
    }

    /// 64 kbit/s, which is also adaptation's choice on a poor link.
    public static let low1 = AudioQuality("Low1", kilobits: 64)
    public static let high1 = AudioQuality("High1", kilobits: 96)
    public static let high2 = AudioQuality("High2", kilobits: 128)
    /// The default.
    public static let standard = high2

    /// Each bit rate at 44.1 kHz, lowest first.
    public static let presets = [low1, high1, high2]
    /// Sample rates available for every preset, default first.
    public static let sampleRates = [44_100, 48_000, 22_050, 11_025]

    /// "High2" at 44.1 kHz, "High2@48000" otherwise.
    public var name: String { sampleRate == 44_100 ? presetName : "\(presetName)@\(sampleRate)" }

    /// - Parameter name: same form as `name`, case-insensitive.
    public init(named name: String) throws(QualityError) {
        let parts = name.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let presetName = parts.first.map { $0.lowercased() } ?? ""
        guard let preset = Self.presets.first(where: { $0.presetName.lowercased() == presetName }) else {
            throw .unknownAudioQuality(name)
        }
        guard parts.count == 2 else {
            self = preset
            return
        }
        guard let rate = Int(parts[1]) else { throw .unsupportedSampleRate(String(parts[1])) }
        self = try preset.at(sampleRate: rate)
    }

    public func at(sampleRate: Int) throws(QualityError) -> AudioQuality {
        guard Self.sampleRates.contains(sampleRate) else { throw .unsupportedSampleRate(String(sampleRate)) }
        return AudioQuality(
            presetName, kilobits: bitrate.bitsPerSecond / 1000, sampleRate: sampleRate)
    }

    /// The lowest bit rate at this sample rate, for a poor link.
    var lowest: AudioQuality {
        AudioQuality(
            Self.low1.presetName, kilobits: Self.low1.bitrate.bitsPerSecond / 1000, sampleRate: sampleRate)
    }
}
