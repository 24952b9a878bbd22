import DevicePorts
import Media

extension PublishCounters {
    /// What the status says about the sources.
    var sourceFields: [(name: String, value: Event.Value)] {
        let video = videoSource
        var fields: [(name: String, value: Event.Value)] = [
            ("sourceFrames", .integer(video.capturedFrames)), ("sourceDropped", .integer(video.droppedFrames)),
            ("sourceRepeated", .integer(video.repeatedFrames)),
            ("sourceDecoded", .integer(video.decodedFrames)), ("sourceTurned", .integer(video.turnedFrames)),
            ("sourceConverted", .integer(convertedFrames)),
            ("sourceMapped", .integer(video.mappedFrames)), ("sourceInterruptions", .integer(video.interruptions)),
            ("audioFrames", .integer(audioSource.capturedFrames)), ("audioSilent", .integer(audioSource.silentFrames)),
            ("audioOverruns", .integer(audioSource.overruns)),
            ("audioInterruptions", .integer(audioSource.interruptions)),
        ]
        if let drift = audioSource.driftPPM { fields.append(("audioDriftPPM", .number(drift))) }
        if let peak = audioSource.peakDecibels { fields.append(("audioPeakDecibels", .number(peak))) }
        if let mean = audioSource.meanDecibels { fields.append(("audioMeanDecibels", .number(mean))) }
        return fields
    }
}

extension Event {
    init(_ notice: SourceNotice) {
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
