import Media
import StreamQuality

extension QualityChange {
    var text: String {
        let link = linkEstimate.map { "; the link carries about \(kilobits($0)) kbit/s" } ?? ""
        return "quality: \(to.summary) (\(reason.rawValue)\(link))"
    }

    var fields: [EventField] {
        var fields: [EventField] = [("reason", .text(reason.name)), ("meaning", .text(reason.rawValue))]
        fields += to.fields
        fields.append(("previousBitsPerSecond", .integer(from.mediaBitrate.bitsPerSecond)))
        if let linkEstimate { fields.append(("linkBitsPerSecond", .integer(linkEstimate.bitsPerSecond))) }
        return fields
    }
}

extension StreamMeasurement {
    func fields(linkEstimate: Bitrate?) -> [EventField] {
        var fields: [EventField] = [
            ("delaySeconds", .number(deliveryDelay.inSeconds)), ("appendedBytes", .integer(appendedBytes)),
            ("deliveredBytes", .integer(deliveredBytes)), ("undeliveredBytes", .integer(undeliveredBytes)),
            ("waitingBytes", .integer(waitingBytes)), ("encodedVideoBytes", .integer(encodedVideoBytes)),
            ("encodedFrames", .integer(encodedFrames)), ("skippedFrames", .integer(skippedFrames)),
        ]
        if let linkEstimate { fields.append(("linkBitsPerSecond", .integer(linkEstimate.bitsPerSecond))) }
        return fields
    }
}

extension OperatingPoint {
    /// Video and audio together.
    public var mediaBitrate: Bitrate {
        let video = videoQuality == nil ? 0 : videoBitrate.bitsPerSecond
        return Bitrate(bitsPerSecond: video + (audioQuality?.bitrate.bitsPerSecond ?? 0))
    }

    /// The name of the row, for people.
    public var qualityName: String { videoQuality?.name ?? audioQuality.map { "audio \($0.name)" } ?? "none" }

    fileprivate var summary: String {
        var parts: [String] = []
        if let videoQuality {
            parts.append(
                "\(videoQuality.name), \(frameRate.framesPerSecond) fps, \(kilobits(videoBitrate)) kbit/s")
            if let frameSize { parts.append("\(frameSize)") }
        }
        if let audioQuality { parts.append("audio \(kilobits(audioQuality.bitrate)) kbit/s") }
        return parts.joined(separator: ", ")
    }

    var fields: [EventField] {
        var fields: [EventField] = [
            ("quality", .text(qualityName)), ("targetBitsPerSecond", .integer(mediaBitrate.bitsPerSecond)),
        ]
        if videoQuality != nil {
            fields.append(("videoBitsPerSecond", .integer(videoBitrate.bitsPerSecond)))
            fields.append(("targetFramesPerSecond", .integer(frameRate.framesPerSecond)))
            if let frameSize {
                fields += [("width", .integer(frameSize.width)), ("height", .integer(frameSize.height))]
            }
        }
        if let audioQuality {
            fields.append(("audioBitsPerSecond", .integer(audioQuality.bitrate.bitsPerSecond)))
        }
        return fields
    }
}

extension QualityChangeReason {
    /// The reason, for scripts. Spelled out for the same reason as `EventCode.name`.
    var name: String {
        switch self {
        case .linkCarriesLess: "linkCarriesLess"
        case .stalled: "stalled"
        case .resumed: "resumed"
        case .backlogSent: "backlogSent"
        case .probing: "probing"
        case .probeFailed: "probeFailed"
        case .encoderSkips: "encoderSkips"
        case .sizeFits: "sizeFits"
        case .sizeTooLarge: "sizeTooLarge"
        case .tierSwitched: "tierSwitched"
        case .settingsChanged: "settingsChanged"
        }
    }
}

private func kilobits(_ rate: Bitrate) -> String { fixed(rate.kilobitsPerSecond, decimals: 0) }
