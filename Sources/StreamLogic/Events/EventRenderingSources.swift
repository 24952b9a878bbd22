import Media
import StreamQuality

extension QualityError {
    /// `nil` if the error has no code.
    public var code: EventCode? {
        switch self {
        case .impossibleSize, .tooManyFrames, .beyondLevel: .unsupportedResolution
        case .unsupportedSampleRate: .unsupportedSampleRate
        default: nil
        }
    }
}

extension SourceEvent {
    /// For people.
    public var text: String {
        switch self {
        case .started(.camera(let name, let size, let rate)):
            return "frames arrive from \(name): \(size), \(rate.framesPerSecond) fps"
        case .started(.microphone(let sampleRate, let channelCount)):
            return "the microphone delivers audio: \(sampleRate) Hz, \(channelCount == 1 ? "mono" : "stereo")"
        case .interrupted(let track, let source, let reason):
            let substitute = track == .video ? "repeating the last frame" : "sending silence"
            return "\(reason); \(substitute) until \(source) is back"
        case .returned(_, let source, let gap):
            return "\(source) is back after \(fixed(gap.inSeconds, decimals: 1)) s"
        }
    }

    var fields: [EventField] {
        switch self {
        case .started(.camera(let name, let size, let rate)):
            [
                ("camera", .text(name)), ("width", .integer(size.width)), ("height", .integer(size.height)),
                ("framesPerSecond", .integer(rate.framesPerSecond)),
            ]
        case .started(.microphone(let sampleRate, let channelCount)):
            [("sampleRate", .integer(sampleRate)), ("channels", .integer(channelCount))]
        case .interrupted(let track, let source, let reason):
            [("track", .text(track.rawValue)), ("source", .text(source)), ("reason", .text(reason))]
        case .returned(let track, let source, let gap):
            [("track", .text(track.rawValue)), ("source", .text(source)), ("seconds", .number(gap.inSeconds))]
        }
    }
}

extension EncodedCounters {
    /// The status fields for the sources.
    public var sourceFields: [EventField] {
        let video = videoSource
        var fields: [EventField] = [
            ("sourceFrames", .integer(video.capturedFrames)), ("sourceDropped", .integer(video.droppedFrames)),
            ("sourceStartup", .integer(video.startupFrames)),
            ("sourceSuperseded", .integer(video.supersededFrames)),
            ("sourceRepeated", .integer(video.repeatedFrames)),
            ("sourceDecoded", .integer(video.decodedFrames)), ("sourceRotated", .integer(video.rotatedFrames)),
            ("sourceConverted", .integer(conversions)), ("sourcePasses", .integer(video.passes + conversions)),
            ("sourceMapped", .integer(video.mappedFrames)), ("sourceInterruptions", .integer(video.interruptions)),
            ("audioSamples", .integer(audioSource.capturedSamples)),
            ("audioSilent", .integer(audioSource.silentSamples)),
            ("audioOverruns", .integer(audioSource.overruns)),
            ("audioInterruptions", .integer(audioSource.interruptions)),
        ]
        if let drift = audioSource.driftPPM { fields.append(("audioDriftPPM", .number(drift))) }
        if let peak = audioSource.peakDecibels { fields.append(("audioPeakDecibels", .number(peak))) }
        if let mean = audioSource.meanDecibels { fields.append(("audioMeanDecibels", .number(mean))) }
        if let gain = audioSource.gain {
            if let hardware = gain.hardware { fields.append(("audioHardwareGainDecibels", .number(hardware))) }
            fields.append(("audioDigitalGainDecibels", .number(gain.digital)))
        }
        if let preview {
            fields += [
                ("previewFrames", .integer(preview.shownFrames)), ("previewLost", .integer(preview.lostFrames)),
                ("previewConverted", .integer(preview.convertedFrames)),
            ]
        }
        return fields + audioSource.fieldsOfEach + filterFields
    }
}

extension EncodedCounters {
    /// For each filter, in the chain's order; empty without filters.
    private var filterFields: [EventField] {
        guard !filters.isEmpty else { return [] }
        return [
            ("filters", .texts(filters.map { "\($0.filter)" + ($0.isDropped ? "-dropped" : "") })),
            ("filterFrames", .numbers(filters.map { Double($0.frames) })),
            ("filterNanoseconds", .numbers(filters.map { Double($0.nanoseconds) })),
        ]
    }
}

extension AudioSourceStatistics {
    /// For each of several mixed sources, in order; empty for a single one.
    fileprivate var fieldsOfEach: [EventField] {
        guard !sources.isEmpty else { return [] }
        return [
            ("eachAudioSamples", .numbers(sources.map { Double($0.capturedSamples) })),
            ("eachAudioSilent", .numbers(sources.map { Double($0.silentSamples) })),
            ("eachAudioDriftPPM", .numbers(sources.map(\.driftPPM))),
            ("eachAudioPeakDecibels", .numbers(sources.map(\.peakDecibels))),
            ("eachAudioMeanDecibels", .numbers(sources.map(\.meanDecibels))),
            ("eachAudioHardwareGainDecibels", .numbers(sources.map(\.gain?.hardware))),
            ("eachAudioDigitalGainDecibels", .numbers(sources.map(\.gain?.digital))),
        ]
    }

    /// The loudest sample, for people.
    fileprivate var level: String {
        let level = peakDecibels.map { "peak \(fixed($0, decimals: 1)) dBFS" } ?? "silent"
        guard !sources.isEmpty else { return level }
        let each = sources.map { source in source.peakDecibels.map { fixed($0, decimals: 1) } ?? "silent" }
        return "\(level) of \(each.joined(separator: " and "))"
    }

    fileprivate var drift: String { driftPPM.map { ", drift \(fixed($0, decimals: 1)) ppm" } ?? "" }
}

/// A summary of camera and microphone for people; `nil` for one that the stream does not have.
public struct SourceSummary {
    public let camera: String?
    public let microphone: String?

    /// - Parameter isMuted: the microphone's audio is sent as silence.
    public init(_ counters: EncodedCounters, isMuted: Bool) {
        let (video, audio) = (counters.videoSource, counters.audioSource)
        camera =
            video.capturedFrames + video.repeatedFrames > 0
            ? "\(video.capturedFrames) frames, \(video.droppedFrames) missed, \(video.repeatedFrames) repeated, "
                + "\(video.decodedFrames) decoded, \(counters.conversions) converted"
            : nil
        let words = "\(isMuted ? "muted, " : "")\(audio.level), \(audio.overruns) overruns\(audio.drift)"
        microphone = audio.capturedSamples + audio.silentSamples > 0 ? words : nil
    }
}
