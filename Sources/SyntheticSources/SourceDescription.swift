import DevicePorts
import LinuxIO
import Media

/// The video source that a command line names.
public enum VideoSourceDescription: Hashable, Sendable {
    case synthetic
    /// No video at all.
    case none
    case raw(path: String, format: PixelFormat, size: FrameSize, frameRate: FrameRate)

    private static let form = "synthetic, none or raw:PATH,format=i420|nv12|yuyv|uyvy|rgb888|bgr888,size=WxH,fps=N"

    public init(parsing text: String) throws(SourceError) {
        switch text {
        case "synthetic": self = .synthetic
        case "none": self = .none
        default:
            var settings = try RawSettings(parsing: text, keys: ["format", "size", "fps"], form: Self.form)
            let format = try settings.value("format", "i420, nv12, yuyv, uyvy, rgb888 or bgr888") { text in
                PixelFormat(rawValue: text)
            }
            let size = try settings.value("size", "WIDTHxHEIGHT, each side 2 to 8192 pixels", Self.size)
            let fps = try settings.value("fps", "a whole number from 1 to 240") { text in
                Int(text).flatMap { (1...240).contains($0) ? $0 : nil }
            }
            self = .raw(path: settings.path, format: format, size: size, frameRate: FrameRate(framesPerSecond: fps))
        }
    }

    private static func size(_ text: String) -> FrameSize? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], (2...8192).contains(width),
            (2...8192).contains(height)
        else { return nil }
        return FrameSize(width: width, height: height)
    }

    /// Opens the source.
    /// - Parameters:
    ///   - size, frameRate: of the stream; synthetic sources make such frames, others have their own.
    ///   - stop: once signalled, the source ends at once. It is not drained.
    public func open(size: FrameSize, frameRate: FrameRate, stop: EventFD) throws(SourceError) -> (any VideoSource)? {
        switch self {
        case .none: nil
        case .synthetic: TestPattern(size: size, frameRate: frameRate, stop: stop)
        case .raw(let path, let format, let size, let frameRate):
            try RawVideoInput(path: path, format: format, size: size, frameRate: frameRate, stop: stop)
        }
    }
}

/// The audio source that a command line names.
public enum AudioSourceDescription: Hashable, Sendable {
    case tone
    case silence
    /// No audio at all.
    case none
    case raw(path: String, format: AudioFormat)

    private static let form = "tone, silence, none or raw:PATH,rate=N,channels=N"

    public init(parsing text: String) throws(SourceError) {
        switch text {
        case "tone": self = .tone
        case "silence": self = .silence
        case "none": self = .none
        default:
            var settings = try RawSettings(parsing: text, keys: ["rate", "channels"], form: Self.form)
            let rate = try settings.value("rate", "a number from 8000 to 48000") { text in
                Int(text).flatMap { (8000...48000).contains($0) ? $0 : nil }
            }
            let channels = try settings.value("channels", "1 or 2") { text in
                Int(text).flatMap { (1...2).contains($0) ? $0 : nil }
            }
            self = .raw(path: settings.path, format: AudioFormat(sampleRate: rate, channelCount: channels))
        }
    }

    /// As `VideoSourceDescription.open`.
    public func open(sampleRate: Int, stop: EventFD) throws(SourceError) -> (any AudioSource)? {
        switch self {
        case .none: nil
        case .tone: ToneSource(sampleRate: sampleRate, stop: stop)
        case .silence: SilenceSource(format: AudioFormat(sampleRate: sampleRate, channelCount: 2), stop: stop)
        case .raw(let path, let format): try RawAudioInput(path: path, format: format, stop: stop)
        }
    }
}

/// `raw:PATH,key=value,...`. The path may hold commas and equals signs: the settings are the last parts, one
/// for each key, and what is before them is the path.
private struct RawSettings {
    let text: String
    private(set) var path: String
    private var values: [String: String] = [:]

    init(parsing text: String, keys: [String], form: String) throws(SourceError) {
        self.text = text
        guard text.hasPrefix("raw:") else { throw .badDescription(text, problem: "write \(form)") }
        var parts = text.dropFirst(4).split(separator: ",", omittingEmptySubsequences: false)
        while let part = parts.last, let separator = part.firstIndex(of: "="), parts.count > 1 {
            let key = String(part[..<separator])
            if values.count == keys.count && !keys.contains(key) { break }
            guard keys.contains(key) else {
                throw .badDescription(text, problem: "\"\(key)\" is not one of \(keys.joined(separator: ", "))")
            }
            guard values[key] == nil else { throw .badDescription(text, problem: "\(key) is there twice") }
            values[key] = String(part[part.index(after: separator)...])
            parts.removeLast()
        }
        path = parts.joined(separator: ",")
        guard !path.isEmpty else { throw .badDescription(text, problem: "the path is missing; write \(form)") }
    }

    mutating func value<Value>(
        _ key: String, _ possible: String, _ parse: (String) -> Value?
    ) throws(SourceError) -> Value {
        guard let text = values[key] else {
            throw .badDescription(self.text, problem: "\(key)= is missing: \(possible)")
        }
        guard let value = parse(text) else {
            throw .badDescription(self.text, problem: "\(key) is \(possible), not \"\(text)\"")
        }
        return value
    }
}
