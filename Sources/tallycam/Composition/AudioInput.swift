import AudioCapture
import DevicePorts
import LinuxIO
import MediaPipeline
import StreamLogic
import SyntheticSources

/// Where audio comes from: a microphone, or a source that needs none.
enum AudioInput: AudioSourceChoice, Hashable {
    case embedded(AudioSourceDescription)
    case alsa(MicrophoneSettings)

    static let none = AudioInput.embedded(.none)

    init(parsing text: String) throws {
        guard text == "alsa" || text.hasPrefix("alsa:") || text.hasPrefix("alsa,") else {
            do {
                self = .embedded(try AudioSourceDescription(parsing: text))
            } catch {
                throw CommandFailure.usage("\(error); microphones are alsa[:hw:CARD]")
            }
            return
        }
        var settings = MicrophoneSettings()
        // hw:CARD,DEVICE has a comma of its own.
        let parts = text.dropFirst(5).split(separator: ",", omittingEmptySubsequences: false)
        settings.device = parts.prefix { $0.firstIndex(of: "=") == nil }.joined(separator: ",")
        for part in parts.drop(while: { $0.firstIndex(of: "=") == nil }) { try settings.take(part) }
        self = .alsa(settings)
    }

    var isNone: Bool { self == .none }

    var takesSampleRate: Bool {
        switch self {
        case .embedded(let source): source.takesSampleRate
        case .alsa: true
        }
    }

    var readsStandardInput: Bool { if case .embedded(let source) = self { source.readsStandardInput } else { false } }

    func open(
        sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void
    ) throws -> (any AudioSource)? {
        switch self {
        case .embedded(let source):
            let opened = try source.open(sampleRate: sampleRate, stop: stop)
            guard let opened, ![sampleRate, 44_100, 48_000].contains(opened.format.sampleRate) else { return opened }
            // Of a file or pipe, which AAC takes in some rates only, and at some bit rates.
            return try ResampledSource(opened, sampleRate: sampleRate)
        case .alsa(let settings):
            let name = settings.device.isEmpty ? "the microphone" : "the microphone \(settings.device)"
            return try MicrophoneSource(settings, sampleRate: sampleRate, stop: stop) { event in
                switch event {
                case .interrupted(let reason): notify(.interrupted(.audio, source: name, reason: reason))
                case .returned(let gap): notify(.returned(.audio, source: name, after: gap))
                }
            }
        }
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
