import Media
import StreamQuality

// Settings shared by the command line and the live stream.

/// What may change on a slow network, by its name on the command line.
public enum AdaptationPolicy: String, Sendable {
    /// Bit rates stay as set.
    case nothing
    /// Bit rate and frame rate.
    case seamless
    /// The profile as well: the stream may stop and start again.
    case restart

    public init(named name: String) throws(QualityError) {
        guard let policy = AdaptationPolicy(rawValue: name) else {
            throw .unusableValue(setting: "adapt", value: name, rule: "must be nothing, seamless or restart")
        }
        self = policy
    }
}

extension ResizePolicy {
    public init(named name: String) throws(QualityError) {
        guard let policy = ResizePolicy(rawValue: name) else {
            throw .unusableValue(setting: "resize", value: name, rule: "must be never, restart or seamless")
        }
        self = policy
    }
}

/// The range of the video's bit rate.
public enum BitrateChoice: Hashable, Sendable {
    case range(BitrateRange)
    /// Also sets the frame rate.
    case automatic(AutomaticBitrate)

    /// - Parameter text: "MIN,START,MAX" in kbit/s, or SD, HD or FHD.
    public init(parsing text: String) throws(QualityError) {
        if let preset = AutomaticBitrate(rawValue: text.uppercased()) {
            self = .automatic(preset)
            return
        }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let minimum = numbers[0], let start = numbers[1], let maximum = numbers[2],
            (30...100_000).contains(minimum), minimum <= start, start <= maximum, maximum <= 100_000
        else {
            let rule = """
                must be MIN,START,MAX in kbit/s, from 30 to 100000 and in ascending order, or \
                \(AutomaticBitrate.allCases.map(\.rawValue).joined(separator: ", "))
                """
            throw .unusableValue(setting: "bitrate", value: text, rule: rule)
        }
        self = .range(
            BitrateRange(
                minimum: Bitrate(kilobitsPerSecond: minimum), start: Bitrate(kilobitsPerSecond: start),
                maximum: Bitrate(kilobitsPerSecond: maximum)))
    }
}

extension BitrateChoice: CustomStringConvertible {
    public var description: String {
        switch self {
        case .automatic(let preset): preset.rawValue
        case .range(let range):
            [range.minimum, range.start, range.maximum].map { String($0.bitsPerSecond / 1000) }
                .joined(separator: ",")
        }
    }
}

extension QualitySettings {
    public var policy: AdaptationPolicy {
        get { !isAutomatic ? .nothing : tierSwitch == .never ? .seamless : .restart }
        set {
            isAutomatic = newValue != .nothing
            tierSwitch = newValue == .restart ? .restartStream : .never
        }
    }

    public mutating func setBitrate(_ choice: BitrateChoice) {
        switch choice {
        case .range(let range): bitrateRange = range
        case .automatic(let preset):
            bitrateRange = preset.range
            frameRateLimit = preset.frameRate
        }
    }
}
