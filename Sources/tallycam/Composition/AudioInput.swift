import AudioCapture
import DevicePorts
import LinuxIO
import MediaPipeline
import StreamLogic
import SyntheticSources

/// Where audio comes from: a microphone, a source that needs none, or several of both.
enum AudioInput: AudioSourceChoice {
    case embedded(AudioSourceDescription)
    case alsa(MicrophoneSettings)
    /// Their sum.
    case mixed([AudioPart])

    static let none = AudioInput.embedded(.none)
    static let largestCount = 4

    /// - Parameter texts: of `--audio`, as often as it was given.
    init(parsing texts: [String]) throws {
        let parts = try texts.map(AudioPart.init(parsing:))
        if let part = parts.first, parts.count == 1 {
            self = part.alone
            return
        }
        guard parts.count <= Self.largestCount else {
            throw CommandFailure.usage(
                "--audio may be given \(Self.largestCount) times at the most, not \(parts.count)")
        }
        guard !parts.contains(where: \.isNone) else {
            throw CommandFailure.usage("--audio none does not go with another --audio")
        }
        guard parts.count(where: \.readsStandardInput) <= 1 else {
            throw CommandFailure.usage("one --audio only can read standard input")
        }
        self = .mixed(parts)
    }

    /// - Parameter microphones: any number; those after the fourth are left out.
    init(microphones: [MicrophoneSettings]) {
        let parts = microphones.prefix(Self.largestCount).map { AudioPart(.alsa, $0) }
        self = parts.count == 1 ? parts[0].alone : .mixed(parts)
    }

    var isNone: Bool { if case .embedded(.none) = self { true } else { false } }

    var takesSampleRate: Bool {
        switch self {
        case .embedded(let source): source.takesSampleRate
        case .alsa: true
        case .mixed(let parts): parts.allSatisfy(\.takesSampleRate)
        }
    }

    var readsStandardInput: Bool {
        switch self {
        case .embedded(let source): source.readsStandardInput
        case .alsa: false
        case .mixed(let parts): parts.contains(where: \.readsStandardInput)
        }
    }

    func open(
        sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (TrackEvent) -> Void
    ) throws -> (any AudioSource)? {
        switch self {
        case .embedded(let source):
            let opened = try source.open(sampleRate: sampleRate, stop: stop)
            guard let opened, ![sampleRate, 44_100, 48_000].contains(opened.format.sampleRate) else { return opened }
            // Of a file or pipe, which AAC takes in some rates only, and at some bit rates.
            return try ResampledSource(opened, sampleRate: sampleRate)
        case .alsa(let settings): return try AudioPart(.alsa, settings).open(sampleRate: sampleRate, stop: stop, notify)
        case .mixed(let parts):
            let sources = try parts.compactMap { try $0.open(sampleRate: sampleRate, stop: stop, notify) }
            return MixedSource(sources, sampleRate: sampleRate)
        }
    }
}

/// One of several sources of audio, with its gain and mute.
struct AudioPart {
    enum Source {
        case embedded(AudioSourceDescription)
        case alsa
    }

    let source: Source
    private(set) var settings = MicrophoneSettings()
    /// As it was typed, without gain and mute.
    private var name = ""

    init(_ source: Source, _ settings: MicrophoneSettings) {
        self.source = source
        self.settings = settings
    }

    init(parsing text: String) throws {
        guard text == "alsa" || text.hasPrefix("alsa:") || text.hasPrefix("alsa,") else {
            var parts = text.split(separator: ",", omittingEmptySubsequences: false)
            while parts.count > 1, let last = parts.last, last.hasPrefix("gain=") || last.hasPrefix("mute=") {
                try settings.take(last)
                parts.removeLast()
            }
            name = parts.joined(separator: ",")
            do {
                source = .embedded(try AudioSourceDescription(parsing: name))
            } catch {
                throw CommandFailure.usage("\(error); microphones are alsa[:hw:CARD]")
            }
            return
        }
        source = .alsa
        // hw:CARD,DEVICE has a comma of its own.
        let parts = text.dropFirst(5).split(separator: ",", omittingEmptySubsequences: false)
        settings.device = parts.prefix { $0.firstIndex(of: "=") == nil }.joined(separator: ",")
        for part in parts.drop(while: { $0.firstIndex(of: "=") == nil }) { try settings.take(part) }
    }

    /// What it is when it is the only one. What needs neither gain nor mute is taken as it is.
    fileprivate var alone: AudioInput {
        switch source {
        case .alsa: .alsa(settings)
        case .embedded(let source) where source == .none || settings == MicrophoneSettings(): .embedded(source)
        case .embedded: .mixed([self])
        }
    }

    fileprivate var isNone: Bool { if case .embedded(.none) = source { true } else { false } }

    fileprivate var takesSampleRate: Bool {
        if case .embedded(let source) = source { source.takesSampleRate } else { true }
    }

    fileprivate var readsStandardInput: Bool {
        if case .embedded(let source) = source { source.readsStandardInput } else { false }
    }

    /// Pipes are written in bursts.
    private static let gapThreshold = Duration.milliseconds(250)

    fileprivate func open(
        sampleRate: Int, stop: EventFD, _ notify: @escaping @Sendable (TrackEvent) -> Void
    ) throws -> MicrophoneSource? {
        let device = settings.device.isEmpty ? "the microphone" : "the microphone \(settings.device)"
        let shown = name.isEmpty ? device : name
        let report: @Sendable (MicrophoneSource.Event) -> Void = { event in
            switch event {
            case .interrupted(let reason): notify(.source(.interrupted(.audio, source: shown, reason: reason)))
            case .returned(let gap): notify(.source(.returned(.audio, source: shown, after: gap)))
            case .ended(let note): notify(.note(.audio, "\(note); silence follows"))
            }
        }
        guard case .embedded(let embedded) = source else {
            return try MicrophoneSource(settings, sampleRate: sampleRate, stop: stop, notify: report)
        }
        guard let opened = try embedded.open(sampleRate: sampleRate, stop: stop, waitsForWriter: false) else {
            return nil
        }
        return try MicrophoneSource(
            settings, of: opened, gapThreshold: Self.gapThreshold, sampleRate: sampleRate, stop: stop, notify: report)
    }
}

extension MicrophoneSettings {
    fileprivate mutating func take(_ part: Substring) throws {
        let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        switch (words.first, words.last) {
        case ("gain", let text?):
            guard let decibels = Double(text), (-60...40).contains(decibels) else {
                throw CommandFailure.usage("gain is a number of dB from -60 to 40, not \"\(text)\"")
            }
            gain = decibels
        case ("mute", "on"): isMuted = true
        case ("mute", "off"): isMuted = false
        default: throw CommandFailure.usage("\"\(part)\" is neither gain=DB nor mute=on|off")
        }
    }
}
