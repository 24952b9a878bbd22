import Bitstream
import Media
import StreamQuality

extension StreamStatus {
    /// The present and the target rates, for people.
    public var qualityText: String {
        let quality = size.map { "\(point.qualityName), \($0)" } ?? point.qualityName
        return "\(quality), "
            + "\(fixed(rates.videoFramesPerSecond, decimals: 1)) fps, "
            + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) of "
            + "\(fixed(point.mediaBitrate.kilobitsPerSecond, decimals: 0)) kbit/s, "
            + "\(fixed(buffered.inSeconds, decimals: 2)) s buffered, encoder \(encoder?.name ?? "none")"
    }

    /// What happened to the frames, for people.
    public var framesText: String {
        sent.framesText(encoded)
    }

    var text: String {
        (isPaused ? "paused, " : "") + "\(fixed(rates.videoFramesPerSecond, decimals: 1)) fps, "
            + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) of "
            + "\(fixed(point.mediaBitrate.kilobitsPerSecond, decimals: 0)) kbit/s (\(point.qualityName)), "
            + "\(fixed(buffered.inSeconds, decimals: 2)) s buffered, \(sent.sentFrames) frames sent, "
            + "\(encoded.skippedFrames) skipped, \(sent.droppedFrames) dropped, "
            + "\(encoded.decimatedFrames) decimated\(encoded.missedText)"
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
            ("videoFrames", .integer(sent.sentFrames)), ("videoSkipped", .integer(encoded.skippedFrames)),
            ("videoDropped", .integer(sent.droppedFrames)),
            ("videoDecimated", .integer(encoded.decimatedFrames)),
        ]
        fields += point.fields
        fields += encoded.sourceFields
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

extension SentCounters {
    /// What happened to the frames, for people.
    public func framesText(_ encoded: EncodedCounters) -> String {
        "\(sentFrames) sent, \(encoded.skippedFrames) skipped by the encoder, "
            + "\(droppedFrames) dropped, \(encoded.decimatedFrames) decimated\(encoded.missedText)"
    }

    func totalsText(_ encoded: EncodedCounters, audioSeconds: Double) -> String {
        "ended: \(sentFrames) frames and \(fixed(audioSeconds, decimals: 1)) s of audio sent, "
            + "\(encoded.skippedFrames) frames skipped by the encoder, \(droppedFrames) dropped, "
            + "\(encoded.decimatedFrames) decimated\(encoded.missedText)"
    }

    func totalsFields(_ encoded: EncodedCounters, audioSeconds: Double) -> [EventField] {
        let source = encoded.videoSource
        return [
            ("videoFrames", .integer(sentFrames)), ("videoSkipped", .integer(encoded.skippedFrames)),
            ("videoDropped", .integer(droppedFrames)), ("videoDecimated", .integer(encoded.decimatedFrames)),
            ("sourceFrames", .integer(source.capturedFrames)), ("sourceDropped", .integer(encoded.missedFrames)),
            ("sourceRepeated", .integer(source.repeatedFrames)),
            ("videoBytes", .integer(sentVideoBytes)),
            ("audioPackets", .integer(sentAudioPackets)), ("audioBytes", .integer(sentAudioBytes)),
            ("audioSeconds", .number(audioSeconds)),
        ]
    }
}

/// The totals of a file, which has no sources or encoders.
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
