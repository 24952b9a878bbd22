import Media

extension PublishCounters {
    /// What the status says about the sources.
    public var sourceFields: [(name: String, value: Event.Value)] {
        let video = videoSource
        var fields: [(name: String, value: Event.Value)] = [
            ("sourceFrames", .integer(video.capturedFrames)), ("sourceDropped", .integer(video.droppedFrames)),
            ("sourceRepeated", .integer(video.repeatedFrames)),
            ("sourceDecoded", .integer(video.decodedFrames)), ("sourceTurned", .integer(video.turnedFrames)),
            ("sourceConverted", .integer(conversions)), ("sourcePasses", .integer(video.passes + conversions)),
            ("sourceMapped", .integer(video.mappedFrames)), ("sourceInterruptions", .integer(video.interruptions)),
            ("audioFrames", .integer(audioSource.capturedFrames)), ("audioSilent", .integer(audioSource.silentFrames)),
            ("audioOverruns", .integer(audioSource.overruns)),
            ("audioInterruptions", .integer(audioSource.interruptions)),
        ]
        // Those that may be missing are named in `optionalSourceFields`.
        if let drift = audioSource.driftPPM { fields.append(("audioDriftPPM", .number(drift))) }
        if let peak = audioSource.peakDecibels { fields.append(("audioPeakDecibels", .number(peak))) }
        if let mean = audioSource.meanDecibels { fields.append(("audioMeanDecibels", .number(mean))) }
        return fields
    }

    static let optionalSourceFields = ["audioDriftPPM", "audioPeakDecibels", "audioMeanDecibels"]
}

/// What people are told of camera and microphone; `nil` for what is none.
public struct SourceSummary {
    public let camera: String?
    public let microphone: String?

    /// - Parameter fields: of a status event, or `sourceFields`.
    public init(_ fields: [(name: String, value: Event.Value)]) {
        func number(_ name: String) -> Double? { fields.first { $0.name == name }?.value.number }
        func count(_ name: String) -> Int { Int(number(name) ?? 0) }
        let isCamera = count("sourceFrames") + count("sourceRepeated") > 0
        camera =
            isCamera
            ? "\(count("sourceFrames")) pictures, \(count("sourceDropped")) lost, \(count("sourceRepeated")) repeated, "
                + "\(count("sourceDecoded")) decoded, \(count("sourceConverted")) converted"
            : nil
        guard count("audioFrames") + count("audioSilent") > 0 else {
            microphone = nil
            return
        }
        let drift = number("audioDriftPPM").map { "drift \(fixed($0, decimals: 1)) ppm" } ?? "drift not known yet"
        let level = number("audioPeakDecibels").map { "peak \(fixed($0, decimals: 1)) dB" } ?? "silent"
        microphone = "\(level), \(count("audioOverruns")) overruns, \(drift)"
    }
}

extension Event {
    /// Of a status event, what it says of camera and microphone.
    public var sourceFields: [(name: String, value: Value)] {
        let known = Set(PublishCounters().sourceFields.map(\.name) + PublishCounters.optionalSourceFields)
        return fields.filter { known.contains($0.name) }
    }
}

extension Event.Value {
    public var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        case .text, .flag: nil
        }
    }
}

extension Event {
    public init(_ notice: SourceNotice) {
        switch notice {
        case .interrupted(let track, let source, let reason):
            let substitute = track == .video ? "the last picture goes on" : "silence goes out"
            self.init(
                "sourceInterrupted", text: "\(reason); \(substitute) until \(source) is back",
                ["track": .text(track.rawValue), "source": .text(source), "reason": .text(reason)])
        case .returned(let track, let source, let gap):
            self.init(
                "sourceReturned", text: "\(source) is back after \(fixed(gap.inSeconds, decimals: 1)) s",
                ["track": .text(track.rawValue), "source": .text(source), "seconds": .number(gap.inSeconds)])
        }
    }
}
