import Bitstream
import Media
import StreamQuality

extension StreamStatus {
    /// What is sent and what is meant to be, for people.
    public var qualityText: String {
        let quality = size.map { "\(point.qualityName), \($0)" } ?? point.qualityName
        return "\(quality), "
            + "\(fixed(rates.videoFramesPerSecond, decimals: 1)) fps, "
            + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) of "
            + "\(fixed(point.mediaBitrate.kilobitsPerSecond, decimals: 0)) kbit/s, "
            + "\(fixed(buffered.inSeconds, decimals: 2)) s buffered, encoder \(encoder?.name ?? "none")"
    }

    /// What has become of the frames, for people.
    public var framesText: String {
        "\(counters.sentFrames) sent, \(counters.skippedFrames) skipped by the encoder, "
            + "\(counters.droppedFrames) dropped, \(counters.decimatedFrames) decimated\(counters.missedText)"
    }

    var text: String {
        (isPaused ? "paused, " : "") + "\(fixed(rates.videoFramesPerSecond, decimals: 1)) fps, "
            + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) of "
            + "\(fixed(point.mediaBitrate.kilobitsPerSecond, decimals: 0)) kbit/s (\(point.qualityName)), "
            + "\(fixed(buffered.inSeconds, decimals: 2)) s buffered, \(counters.sentFrames) frames sent, "
            + "\(counters.skippedFrames) skipped, \(counters.droppedFrames) dropped, "
            + "\(counters.decimatedFrames) decimated\(counters.missedText)"
    }

    var fields: [EventField] {
        var fields: [EventField] = [
            ("state", .text(state.rawValue)), ("paused", .flag(isPaused)),
            ("encoder", .text(encoder?.name ?? "none")),
        ]
        if let camera { fields.append(("camera", .text(camera))) }
        if let liveDuration { fields.append(("liveSeconds", .number(liveDuration.inSeconds))) }
        fields += [
            ("muted", .flag(isMuted)),
            ("videoFramesPerSecond", .number(rates.videoFramesPerSecond)),
            ("audioPacketsPerSecond", .number(rates.audioPacketsPerSecond)),
            ("bitsPerSecond", .integer(rates.total.bitsPerSecond)),
            ("bufferedSeconds", .number(buffered.inSeconds)),
            ("videoFrames", .integer(counters.sentFrames)), ("videoSkipped", .integer(counters.skippedFrames)),
            ("videoDropped", .integer(counters.droppedFrames)),
            ("videoDecimated", .integer(counters.decimatedFrames)),
        ]
        fields += point.fields
        fields += counters.sourceFields
        if let linkEstimate { fields.append(("linkBitsPerSecond", .integer(linkEstimate.bitsPerSecond))) }
        if let reason { fields.append(("reason", .text(reason.name))) }
        return fields
    }
}

extension FileStreamStatus {
    var text: String {
        "\(fixed(rates.videoFramesPerSecond, decimals: 1)) fps, "
            + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) kbit/s, \(sentFrames) frames sent"
    }

    var fields: [EventField] {
        [
            ("state", .text(state.rawValue)), ("videoFramesPerSecond", .number(rates.videoFramesPerSecond)),
            ("audioPacketsPerSecond", .number(rates.audioPacketsPerSecond)),
            ("bitsPerSecond", .integer(rates.total.bitsPerSecond)),
            ("videoFrames", .integer(sentFrames)), ("audioPackets", .integer(sentAudioPackets)),
        ]
    }
}

extension PublishCounters {
    func totalsText(audioSeconds: Double) -> String {
        "ended: \(sentFrames) frames and \(fixed(audioSeconds, decimals: 1)) s of audio sent, "
            + "\(skippedFrames) frames skipped by the encoder, \(droppedFrames) dropped, "
            + "\(decimatedFrames) decimated\(missedText)"
    }

    func totalsFields(audioSeconds: Double) -> [EventField] {
        [
            ("videoFrames", .integer(sentFrames)), ("videoSkipped", .integer(skippedFrames)),
            ("videoDropped", .integer(droppedFrames)), ("videoDecimated", .integer(decimatedFrames)),
            ("sourceFrames", .integer(videoSource.capturedFrames)), ("sourceDropped", .integer(missedFrames)),
            ("sourceRepeated", .integer(videoSource.repeatedFrames)),
            ("videoBytes", .integer(sentVideoBytes)),
            ("audioPackets", .integer(sentAudioPackets)), ("audioBytes", .integer(sentAudioBytes)),
            ("audioSeconds", .number(audioSeconds)),
        ]
    }
}

/// The totals of a file: of sources and encoders it has none.
extension MediaTally {
    var totalsText: String {
        "ended: \(video.count) frames and \(fixed(audioDuration.inSeconds, decimals: 1)) s of audio sent"
    }

    var totalsFields: [EventField] {
        [
            ("videoFrames", .integer(video.count)), ("videoBytes", .integer(video.byteCount)),
            ("videoSkipped", .integer(0)), ("videoDropped", .integer(0)), ("videoDecimated", .integer(0)),
            ("audioPackets", .integer(audio.count)), ("audioBytes", .integer(audio.byteCount)),
            ("audioSeconds", .number(audioDuration.inSeconds)),
        ]
    }
}
