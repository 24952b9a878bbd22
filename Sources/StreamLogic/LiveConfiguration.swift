import Media
import StreamQuality

/// What can be changed while a stream is live.
public struct LiveConfiguration: Hashable, Sendable {
    /// The settings by their names, which are those of the command line.
    public enum Setting: String, CaseIterable, Sendable {
        case quality
        case audioQuality = "audio-quality"
        case bitrate
        case framesPerSecond = "fps"
        case dimension
        case policy = "adapt"
        case resize
        case keepAudioQuality = "keep-audio-quality"
        case mute
    }

    public var settings: QualitySettings
    public var dimension: VideoDimension
    public var isMuted: Bool

    public init(settings: QualitySettings, dimension: VideoDimension, isMuted: Bool = false) {
        self.settings = settings
        self.dimension = dimension
        self.isMuted = isMuted
    }

    /// Takes a setting as people write it. A quality brings its own bit rates along: what is set after it holds.
    public mutating func set(_ name: String, to value: String) throws(QualityError) {
        guard let setting = Setting(rawValue: name.lowercased()) else {
            throw .unknownSetting(name, known: Setting.allCases.map(\.rawValue))
        }
        try checkTrack(of: setting, value)
        switch setting {
        case .quality:
            let quality = try VideoQuality(named: value)
            settings.videoQuality = quality
            settings.bitrateRange = BitrateRange(
                minimum: min(settings.bitrateRange.minimum, quality.bitrate), start: quality.bitrate,
                maximum: quality.bitrate)
        case .audioQuality: settings.audioQuality = try AudioQuality(named: value)
        case .bitrate: try settings.setBitrate(value)
        case .framesPerSecond:
            guard let rate = Int(value), (1...60).contains(rate) else {
                throw .unusableValue(
                    setting: name, value: value, rule: "is a whole number of frames a second, 1 to 60")
            }
            settings.frameRateLimit = FrameRate(framesPerSecond: rate)
        case .dimension: dimension = try VideoDimension(parsing: value)
        case .policy: try settings.setPolicy(value)
        case .resize: try settings.setResize(value)
        case .keepAudioQuality: settings.audioFollowsVideo = try !Self.flag(setting, value)
        case .mute: isMuted = try Self.flag(setting, value)
        }
    }

    private func checkTrack(of setting: Setting, _ value: String) throws(QualityError) {
        switch setting {
        case .quality, .bitrate, .framesPerSecond, .dimension, .resize:
            guard settings.videoQuality == nil else { return }
            throw .unusableValue(setting: setting.rawValue, value: value, rule: "needs a stream with video")
        case .audioQuality, .keepAudioQuality, .mute:
            guard settings.audioQuality == nil else { return }
            throw .unusableValue(setting: setting.rawValue, value: value, rule: "needs a stream with audio")
        case .policy: return
        }
    }

    private static func flag(_ setting: Setting, _ value: String) throws(QualityError) -> Bool {
        switch value.lowercased() {
        case "on": return true
        case "off": return false
        default: throw .unusableValue(setting: setting.rawValue, value: value, rule: "is on or off")
        }
    }

    /// All settings, one a line, as `set` takes them.
    public var lines: [String] {
        Setting.allCases.compactMap { setting in value(of: setting).map { "\(setting.rawValue) \($0)" } }
    }

    private func value(of setting: Setting) -> String? {
        guard (try? checkTrack(of: setting, "")) != nil else { return nil }
        switch setting {
        case .quality: return settings.videoQuality?.name
        case .audioQuality: return settings.audioQuality?.name
        case .bitrate:
            let range = settings.bitrateRange
            return [range.minimum, range.start, range.maximum].map { String($0.bitsPerSecond / 1000) }.joined(
                separator: ",")
        case .framesPerSecond:
            return settings.videoQuality.map { String(settings.frameRate(atMost: $0.frameRate).framesPerSecond) }
        case .dimension: return dimension.size.description
        case .policy: return settings.policyName
        case .resize: return settings.resize.rawValue
        case .keepAudioQuality: return settings.audioFollowsVideo ? "off" : "on"
        case .mute: return isMuted ? "on" : "off"
        }
    }
}

// The settings that command line and live stream have in common.
extension QualitySettings {
    /// What a slow network may change: `nothing`, `seamless`, `restart`.
    public mutating func setPolicy(_ name: String) throws(QualityError) {
        switch name {
        case "nothing":
            isAutomatic = false
            tierSwitch = .never
        case "seamless":
            isAutomatic = true
            tierSwitch = .never
        case "restart":
            isAutomatic = true
            tierSwitch = .restartStream
        default: throw .unusableValue(setting: "adapt", value: name, rule: "is nothing, seamless or restart")
        }
    }

    /// How a slow network may change the frame size: `never`, `restart`, `seamless`.
    public mutating func setResize(_ name: String) throws(QualityError) {
        guard let policy = ResizePolicy(rawValue: name) else {
            throw .unusableValue(setting: "resize", value: name, rule: "is never, restart or seamless")
        }
        resize = policy
    }

    var policyName: String { !isAutomatic ? "nothing" : tierSwitch == .never ? "seamless" : "restart" }

    /// - Parameter text: "MIN,START,MAX" in kbit/s; or SD, HD or FHD, which bring their frame rate along.
    public mutating func setBitrate(_ text: String) throws(QualityError) {
        if let preset = AutomaticBitrate(rawValue: text.uppercased()) {
            bitrateRange = preset.range
            frameRateLimit = preset.frameRate
            return
        }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let minimum = numbers[0], let start = numbers[1], let maximum = numbers[2],
            (30...100_000).contains(minimum), minimum <= start, start <= maximum, maximum <= 100_000
        else {
            let rule = """
                is MIN,START,MAX in kbit/s, each 30 to 100000 and none less than the one before, or \
                \(AutomaticBitrate.allCases.map(\.rawValue).joined(separator: ", "))
                """
            throw .unusableValue(setting: "bitrate", value: text, rule: rule)
        }
        bitrateRange = BitrateRange(
            minimum: Bitrate(kilobitsPerSecond: minimum), start: Bitrate(kilobitsPerSecond: start),
            maximum: Bitrate(kilobitsPerSecond: maximum))
    }
}
