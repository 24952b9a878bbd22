import Media

/// The limits of a quality that is given in numbers.
public enum VideoQualityLimits {
    /// 1920x1080 at 30 frames per second, which the Raspberry Pi's encoder supports, and 20 Mbit/s.
    public static let level = H264Level.level4_0
    public static let frameRates = 24...60
    /// Encoders are known to work from the lowest preset's bit rate on.
    public static let kilobits =
        VideoPreset.low1.bitrate.bitsPerSecond / 1000...level.largestBitrate.bitsPerSecond / 1000
}

// Text form.
extension VideoQuality {
    /// A preset's name such as "Medium1", or "3500k"; "3500k@60" with another frame rate than the preset of this bit
    /// rate has.
    public var name: String {
        if isPreset { return row.name }
        let rate = frameRate == row.frameRate ? "" : "@\(frameRate.framesPerSecond)"
        return "\(bitrate.bitsPerSecond / 1000)k\(rate)"
    }

    /// - Parameter name: a preset's name, or a bit rate such as "3500k", "4.5M" or "4.5M@60"; case-insensitive.
    /// - Throws: `unknownVideoQuality`, `unusableValue`.
    public init(named name: String) throws(QualityError) {
        let text = name.lowercased()
        if let preset = Self.presets.first(where: { $0.name.lowercased() == text }) {
            self = preset
            return
        }
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let kilobits = Self.kilobits(first) else { throw .unknownVideoQuality(name) }
        guard VideoQualityLimits.kilobits.contains(kilobits) else {
            throw .unusableValue(setting: "quality", value: name, rule: Self.bitrateRule)
        }
        let bitrate = Bitrate(kilobitsPerSecond: kilobits)
        guard parts.count == 2 else {
            self.init(bitrate: bitrate, frameRate: Self.row(for: bitrate).frameRate)
            return
        }
        guard let rate = Int(parts[1]), VideoQualityLimits.frameRates.contains(rate) else {
            throw .unusableValue(setting: "quality", value: name, rule: Self.frameRateRule)
        }
        self.init(bitrate: bitrate, frameRate: FrameRate(framesPerSecond: rate))
    }

    private static func row(for bitrate: Bitrate) -> VideoPreset {
        VideoQuality(bitrate: bitrate, frameRate: FrameRate(framesPerSecond: 30)).row
    }

    /// - Parameter text: a number with the unit "k" or "m", such as "4.5m".
    /// - Returns: rounded to whole kilobits; `nil` for any other text.
    private static func kilobits(_ text: Substring) -> Int? {
        guard let unit = text.last, unit == "k" || unit == "m" else { return nil }
        let digits = text.dropLast()
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let areDigits = parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { ("0"..."9").contains($0) } }
        guard (1...2).contains(parts.count), areDigits, let number = Double(digits) else { return nil }
        // A number that overflows Int is still a bit rate, though an impossible one.
        return Int(exactly: (number * (unit == "m" ? 1000 : 1)).rounded()) ?? .max
    }

    private static var bitrateRule: String {
        let (least, most) = (VideoQualityLimits.kilobits.lowerBound, VideoQualityLimits.kilobits.upperBound)
        return """
            must be a bit rate from \(least)k to \(most)k (the most that H.264 level \(VideoQualityLimits.level.name) \
            allows in Baseline and Main profile), such as 4.5M
            """
    }

    private static var frameRateRule: String {
        let (least, most) = (VideoQualityLimits.frameRates.lowerBound, VideoQualityLimits.frameRates.upperBound)
        return "must have a whole number of frames per second from \(least) to \(most), as in 4.5M@60"
    }
}
