import AudioCapture
import DevicePorts
import LinuxIO
import Media
import MediaPipeline
import Settings
import StreamLogic
import SyntheticSources
import Terminal

/// A source of audio: a microphone, a source that needs no microphone, or a mix of several.
package enum AudioInput: AudioSourceChoice {
    case embedded(AudioSourceDescription)
    case microphone(AudioPart)
    /// - Parameter isOptional: if true, a movie without audio is silent.
    case movie(MovieChoice, isOptional: Bool)
    /// Their sum.
    case mixed([AudioPart])

    package static let none = AudioInput.embedded(.none)
    package static let largestCount = 4

    /// - Parameters:
    ///   - texts: all values of `--audio`.
    ///   - isPaced: `false` reads raw samples as fast as a pipe's writer.
    ///   - movie: the movie that the video comes from, if any.
    package init(parsing texts: [String], isPaced: Bool, movie: MovieChoice?) throws {
        let parts = try texts.map { try AudioPart(parsing: $0, isPaced: isPaced, movie: movie) }
        if let part = parts.first, parts.count == 1 {
            self = part.alone
            return
        }
        guard parts.count <= Self.largestCount else {
            throw CommandFailure.usage(
                "--audio may be given \(Self.largestCount) times at most, not \(parts.count)")
        }
        guard !parts.contains(where: \.isNone) else {
            throw CommandFailure.usage("--audio none cannot be combined with another --audio")
        }
        guard parts.count(where: \.readsStandardInput) <= 1 else {
            throw CommandFailure.usage("only one --audio can read standard input")
        }
        self = .mixed(parts)
    }

    /// - Parameter device: `hw:CARD[,DEVICE]`; empty for the first microphone.
    package init(microphone device: String) { self = .microphone(AudioPart(microphone: device, MicrophoneLevel())) }

    /// - Parameter microphones: any number; only the first four are used.
    package init(microphones: [DeviceDescription.Microphone]) {
        let parts = microphones.prefix(Self.largestCount).map { AudioPart(microphone: $0.device, $0.level) }
        self = parts.count == 1 ? parts[0].alone : .mixed(parts)
    }

    package var isNone: Bool { if case .embedded(.none) = self { true } else { false } }

    /// Whether it contains a file or pipe of raw samples.
    package var hasRaw: Bool {
        switch self {
        case .embedded(let source): source.isRaw
        case .microphone, .movie: false
        case .mixed(let parts): parts.contains(where: \.isRaw)
        }
    }

    package var takesSampleRate: Bool {
        switch self {
        case .embedded(let source): source.takesSampleRate
        case .microphone: true
        case .movie: false
        case .mixed(let parts): parts.allSatisfy(\.takesSampleRate)
        }
    }

    package var readsStandardInput: Bool {
        switch self {
        case .embedded(let source): source.readsStandardInput
        case .microphone, .movie: false
        case .mixed(let parts): parts.contains(where: \.readsStandardInput)
        }
    }

    package var microphones: [MicrophoneControl] {
        switch self {
        case .embedded, .movie: []
        case .microphone(let part): [part.control]
        case .mixed(let parts): parts.map(\.control)
        }
    }

    package func open(
        sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (AudioEvent) -> Void
    ) throws -> (any AudioSource)? {
        switch self {
        case .embedded(let source):
            return try source.open(sampleRate: sampleRate, stop: stop).map { try Self.fitted($0, sampleRate) }
        case .movie(let movie, let isOptional):
            let opened = try movie.openAudio(
                isOptional: isOptional, sampleRate: sampleRate, stop: stop, notify: notify)
            return try Self.fitted(opened, sampleRate)
        case .microphone(let part): return try part.open(sampleRate: sampleRate, stop: stop, notify)
        case .mixed(let parts):
            let sources = try parts.compactMap { try $0.open(sampleRate: sampleRate, stop: stop, notify) }
            return MixedSource(sources, sampleRate: sampleRate)
        }
    }

    /// AAC supports only some sample rates, each with certain bit rates.
    private static func fitted(_ source: any AudioSource, _ sampleRate: Int) throws -> any AudioSource {
        let rates = [sampleRate, 44_100, 48_000]
        return rates.contains(source.format.sampleRate)
            ? source : try ResampledSource(source, sampleRate: sampleRate)
    }
}

/// One of several audio sources, with its gain and mute.
package struct AudioPart {
    enum Source {
        case embedded(AudioSourceDescription)
        /// `hw:CARD[,DEVICE]`; empty for the first one.
        case alsa(device: String)
        case movie(MovieChoice)
    }

    let source: Source
    let control: MicrophoneControl
    /// For people.
    private let name: String

    private init(_ source: Source, _ level: MicrophoneLevel, name: String) {
        self.source = source
        control = MicrophoneControl(level)
        self.name = name
    }

    package init(microphone device: String, _ level: MicrophoneLevel) {
        let name = device.isEmpty ? "the microphone" : "the microphone \(device)"
        self.init(.alsa(device: device), level, name: name)
    }

    /// - Parameter movie: the movie that the video comes from: audio from the same file stays in sync with it.
    package init(parsing text: String, isPaced: Bool, movie: MovieChoice?) throws {
        var level = MicrophoneLevel()
        guard text == "alsa" || text.hasPrefix("alsa:") || text.hasPrefix("alsa,") else {
            var parts = text.split(separator: ",", omittingEmptySubsequences: false)
            while parts.count > 1, let last = parts.last, last.hasPrefix("gain=") || last.hasPrefix("mute=") {
                try level.take(last)
                parts.removeLast()
            }
            let name = String(text[..<(parts.last?.endIndex ?? text.endIndex)])
            if case .movie(let choice)? = try FileChoice(parsing: name) {
                let isSame = choice.path == movie?.path && choice.loops == movie?.loops
                self.init(.movie(isSame ? movie ?? choice : choice), level, name: name)
                return
            }
            do {
                let source = try AudioSourceDescription(parsing: name)
                self.init(.embedded(isPaced ? source : source.unpaced), level, name: name)
            } catch {
                throw CommandFailure.usage("\(error); movies are movie:FILE.mp4; microphones are alsa[:hw:CARD]")
            }
            return
        }
        // hw:CARD,DEVICE contains a comma itself.
        let parts = text.dropFirst(5).split(separator: ",", omittingEmptySubsequences: false)
        let device = parts.prefix { $0.firstIndex(of: "=") == nil }.joined(separator: ",")
        for part in parts.drop(while: { $0.firstIndex(of: "=") == nil }) { try level.take(part) }
        self.init(microphone: device, level)
    }

    /// The input if this is the only part. Sources without gain or mute are used directly.
    fileprivate var alone: AudioInput {
        switch source {
        case .alsa: .microphone(self)
        case .movie(let movie) where control.wanted == MicrophoneLevel(): .movie(movie, isOptional: false)
        case .embedded(let source) where source == .none || control.wanted == MicrophoneLevel(): .embedded(source)
        case .embedded, .movie: .mixed([self])
        }
    }

    fileprivate var isNone: Bool { if case .embedded(.none) = source { true } else { false } }

    fileprivate var isRaw: Bool { if case .embedded(let source) = source { source.isRaw } else { false } }

    fileprivate var takesSampleRate: Bool {
        if case .embedded(let source) = source { source.takesSampleRate } else { true }
    }

    fileprivate var readsStandardInput: Bool {
        if case .embedded(let source) = source { source.readsStandardInput } else { false }
    }

    /// Pipes are written in bursts.
    private static let gapThreshold = Duration.milliseconds(250)

    fileprivate func open(
        sampleRate: Int, stop: EventFD, _ notify: @escaping @Sendable (AudioEvent) -> Void
    ) throws -> MicrophoneSource? {
        let report: @Sendable (MicrophoneSource.Event) -> Void = { [name] event in
            switch event {
            case .interrupted(let reason): notify(.source(.interrupted(.audio, source: name, reason: reason)))
            case .returned(let gap): notify(.source(.returned(.audio, source: name, after: gap)))
            case .ended(let note): notify(.note("\(note); sending silence from here on"))
            }
        }
        func microphone(_ opened: any AudioSource) throws -> MicrophoneSource {
            try MicrophoneSource(
                opened, control: control, gapThreshold: Self.gapThreshold, sampleRate: sampleRate, stop: stop,
                notify: report)
        }
        switch source {
        case .alsa(let device):
            return try MicrophoneSource(
                device: device, control: control, sampleRate: sampleRate, stop: stop, notify: report)
        case .embedded(let embedded):
            guard let opened = try embedded.open(sampleRate: sampleRate, stop: stop, waitsForWriter: false) else {
                return nil
            }
            return try microphone(opened)
        case .movie(let movie):
            return try microphone(
                movie.openAudio(isOptional: false, sampleRate: sampleRate, stop: stop, notify: notify))
        }
    }
}

extension AudioSourceDescription {
    fileprivate var isRaw: Bool { if case .raw = self { true } else { false } }
}

extension MicrophoneLevel {
    fileprivate mutating func take(_ part: Substring) throws {
        let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        switch (words.first, words.last) {
        case ("gain", let text?):
            guard let decibels = Double(text), Self.gainRange.contains(decibels) else {
                throw CommandFailure.usage("gain is a number of dB from -60 to 40, not \"\(text)\"")
            }
            gain = decibels
        case ("mute", "on"): isMuted = true
        case ("mute", "off"): isMuted = false
        default: throw CommandFailure.usage("\"\(part)\" is neither gain=DB nor mute=on|off")
        }
    }
}
