import Media
import StreamQuality

extension LiveConfiguration {
    /// One setting and its new value.
    public enum Change: Hashable, Sendable {
        /// Also sets the bit rates; later changes override them.
        case quality(VideoQuality)
        case audioQuality(AudioQuality)
        case bitrate(BitrateChoice)
        /// Upper limit of the frame rate.
        case frameRate(FrameRate)
        case dimension(VideoDimension)
        case policy(AdaptationPolicy)
        case resize(ResizePolicy)
        case keepAudioQuality(Bool)
        case mute(Bool)

        public var setting: Setting {
            switch self {
            case .quality: .quality
            case .audioQuality: .audioQuality
            case .bitrate: .bitrate
            case .frameRate: .framesPerSecond
            case .dimension: .dimension
            case .policy: .policy
            case .resize: .resize
            case .keepAudioQuality: .keepAudioQuality
            case .mute: .mute
            }
        }
    }
}

// Text form.
extension LiveConfiguration.Change {
    /// - Parameters:
    ///   - name: of a `Setting`, case-insensitive.
    ///   - value: as on the command line.
    public init(_ name: String, _ value: String) throws(QualityError) {
        guard let setting = LiveConfiguration.Setting(rawValue: name.lowercased()) else {
            throw .unknownSetting(name, known: LiveConfiguration.Setting.allCases.map(\.rawValue))
        }
        switch setting {
        case .quality: self = .quality(try VideoQuality(named: value))
        case .audioQuality: self = .audioQuality(try AudioQuality(named: value))
        case .bitrate: self = .bitrate(try BitrateChoice(parsing: value))
        case .framesPerSecond: self = .frameRate(try Self.frameRate(value))
        case .dimension: self = .dimension(try VideoDimension(parsing: value))
        case .policy: self = .policy(try AdaptationPolicy(named: value))
        case .resize: self = .resize(try ResizePolicy(named: value))
        case .keepAudioQuality: self = .keepAudioQuality(try Self.flag(setting, value))
        case .mute: self = .mute(try Self.flag(setting, value))
        }
    }

    /// - Parameter words: alternating names and values.
    public static func parsing(_ words: some Sequence<String>) throws(QualityError) -> [Self] {
        var changes: [Self] = []
        var iterator = words.makeIterator()
        while let name = iterator.next() { changes.append(try Self(name, iterator.next() ?? "")) }
        return changes
    }

    private static func frameRate(_ value: String) throws(QualityError) -> FrameRate {
        guard let rate = Int(value), (1...60).contains(rate) else {
            throw .unusableValue(
                setting: "fps", value: value, rule: "must be a whole number of frames per second, 1 to 60")
        }
        return FrameRate(framesPerSecond: rate)
    }

    private static func flag(_ setting: LiveConfiguration.Setting, _ value: String) throws(QualityError) -> Bool {
        switch value.lowercased() {
        case "on": return true
        case "off": return false
        default: throw .unusableValue(setting: setting.rawValue, value: value, rule: "must be on or off")
        }
    }
}

/// Such as "quality Medium2", as `set` takes it.
extension LiveConfiguration.Change: CustomStringConvertible {
    public var description: String { "\(setting.rawValue) \(value)" }

    private var value: String {
        switch self {
        case .quality(let quality): quality.name
        case .audioQuality(let quality): quality.name
        case .bitrate(let choice): choice.description
        case .frameRate(let rate): String(rate.framesPerSecond)
        case .dimension(let dimension): dimension.size.description
        case .policy(let policy): policy.rawValue
        case .resize(let policy): policy.rawValue
        case .keepAudioQuality(let isOn), .mute(let isOn): isOn ? "on" : "off"
        }
    }
}
