import DevicePorts
import LinuxIO
import Media

/// A video source named on a command line.
public enum VideoSourceDescription: Hashable, Sendable {
    case synthetic
    /// No video.
    case none
    /// - Parameter isPaced: `false` delivers a pipe's frames as fast as they come.
    case raw(path: String, format: PixelFormat, size: FrameSize, frameRate: FrameRate, isPaced: Bool = true)

    private static let form =
        "synthetic, none or raw:PATH,format=\(PixelFormat.allCases.map(\.rawValue).joined(separator: "|")),size=WxH,fps=N"

    public init(parsing text: String) throws(SourceError) {
        switch text {
        case "synthetic": self = .synthetic
        case "none": self = .none
        default:
            let settings = try RawSettings(parsing: text, required: ["format", "size", "fps"], form: Self.form)
            let format = try settings.choice("format", of: PixelFormat.self)
            let size = try settings.value("size", "WIDTHxHEIGHT, each side 2 to 8192 pixels", Self.size)
            let fps = try settings.number("fps", in: 1...240)
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

    /// The same source, as fast as a pipe's writer.
    public var unpaced: VideoSourceDescription {
        guard case .raw(let path, let format, let size, let frameRate, _) = self else { return self }
        return .raw(path: path, format: format, size: size, frameRate: frameRate, isPaced: false)
    }

    /// Opens the source.
    /// - Parameters:
    /// of the stream. Synthetic sources produce such frames; others have their own.
    ///   - stop: ends the source when signaled. It is not drained.
    public func open(size: FrameSize, frameRate: FrameRate, stop: EventFD) throws(SourceError) -> (any VideoSource)? {
        switch self {
        case .none: nil
        case .synthetic: TestPattern(size: size, frameRate: frameRate, stop: stop)
        case .raw(let path, let format, let size, let frameRate, let isPaced):
            try RawVideoInput(
                path: path, format: format, size: size, frameRate: frameRate, isPaced: isPaced, stop: stop)
        }
    }
}

/// An audio source named on a command line.
public enum AudioSourceDescription: Hashable, Sendable {
    case tone
    case silence
    /// No audio.
    case none
    /// - Parameter isPaced: `false` delivers a pipe's samples as fast as they come.
    case raw(path: String, format: RawAudioFormat, isPaced: Bool = true)

    private static let form = "tone, silence, none or raw:PATH[,format=s16le|s32le|f32le],rate=N,channels=N"

    public init(parsing text: String) throws(SourceError) {
        switch text {
        case "tone": self = .tone
        case "silence": self = .silence
        case "none": self = .none
        default:
            let settings = try RawSettings(
                parsing: text, required: ["rate", "channels"], optional: ["format"], form: Self.form)
            let format = RawAudioFormat(
                sample: try settings.choice("format", of: RawAudioFormat.Sample.self, default: .s16le),
                sampleRate: try settings.number("rate", in: RawAudioFormat.sampleRates),
                channelCount: try settings.number("channels", in: RawAudioFormat.channelCounts))
            self = .raw(path: settings.path, format: format)
        }
    }

    /// The same source, as fast as a pipe's writer.
    public var unpaced: AudioSourceDescription {
        guard case .raw(let path, let format, _) = self else { return self }
        return .raw(path: path, format: format, isPaced: false)
    }

    /// See `VideoSourceDescription.open`.
    /// - Parameter waitsForWriter: whether to wait for a pipe's first samples; otherwise it is silent until they come.
    public func open(
        sampleRate: Int, stop: EventFD, waitsForWriter: Bool = true
    ) throws(SourceError) -> (any AudioSource)? {
        switch self {
        case .none: nil
        case .tone: ToneSource(sampleRate: sampleRate, stop: stop)
        case .silence: SilenceSource(format: AudioFormat(sampleRate: sampleRate, channelCount: 2), stop: stop)
        case .raw(let path, let format, let isPaced):
            try RawAudioInput(
                path: path, format: format, waitsForWriter: waitsForWriter, isPaced: isPaced, stop: stop)
        }
    }
}

/// `raw:PATH,key=value,...`. The path may contain commas and equals signs: the settings are the last parts, each key at most
/// once, and everything before them is the path.
private struct RawSettings {
    let text: String
    private(set) var path = ""
    private var values: [String: String] = [:]

    init(
        parsing text: String, required: [String], optional: [String] = [], form: String
    ) throws(SourceError) {
        self.text = text
        let keys = required + optional
        guard text.hasPrefix("raw:") else { throw .badDescription(text, problem: "write \(form)") }
        var parts = text.dropFirst(4).split(separator: ",", omittingEmptySubsequences: false)
        while let part = parts.last, let separator = part.firstIndex(of: "="), parts.count > 1 {
            let key = String(part[..<separator])
            if !keys.contains(key), required.allSatisfy({ values[$0] != nil }) { break }
            guard keys.contains(key) else {
                throw .badDescription(text, problem: "\"\(key)\" is not one of \(keys.joined(separator: ", "))")
            }
            guard values[key] == nil else { throw .badDescription(text, problem: "\(key) is given twice") }
            values[key] = String(part[part.index(after: separator)...])
            parts.removeLast()
        }
        path = parts.joined(separator: ",")
        guard !path.isEmpty else { throw .badDescription(text, problem: "the path is missing; write \(form)") }
    }

    func value<Value>(
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

    func number(_ key: String, in range: ClosedRange<Int>) throws(SourceError) -> Int {
        try value(key, "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// One of several names, or the default if the key is missing.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, of type: Choice.Type, default standard: Choice? = nil
    ) throws(SourceError) -> Choice {
        if values[key] == nil, let standard { return standard }
        let names = Choice.allCases.map(\.rawValue)
        let possible = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
        return try value(key, possible) { Choice(rawValue: $0) }
    }
}
