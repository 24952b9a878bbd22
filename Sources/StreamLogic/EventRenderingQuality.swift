import Media
import StreamQuality

extension Event {
    /// A change of the operating point, with its reason.
    public static func ofQuality(_ change: QualityChange) -> Event {
        var fields: [(name: String, value: Value)] = [
            ("reason", .text(change.reason.name)), ("meaning", .text(change.reason.rawValue)),
        ]
        fields += change.to.fields
        fields.append(("previousBitsPerSecond", .integer(change.from.mediaBitrate.bitsPerSecond)))
        if let estimate = change.linkEstimate { fields.append(("linkBitsPerSecond", .integer(estimate.bitsPerSecond))) }
        let link = change.linkEstimate.map { "; the link carries about \(kilobits($0)) kbit/s" } ?? ""
        return Event(
            nil, code: EventCode.qualityChanged.rawValue,
            text: "quality: \(change.to.summary) (\(change.reason.rawValue)\(link))", fields: fields)
    }

    /// One of ten measurements a second, for traces.
    public static func ofMeasurement(_ measurement: StreamMeasurement, linkEstimate: Bitrate?) -> Event {
        var fields: [(name: String, value: Value)] = [
            ("delaySeconds", .number(measurement.deliveryDelay.inSeconds)),
            ("appendedBytes", .integer(measurement.appendedBytes)),
            ("deliveredBytes", .integer(measurement.deliveredBytes)),
            ("undeliveredBytes", .integer(measurement.undeliveredBytes)),
            ("waitingBytes", .integer(measurement.waitingBytes)),
            ("encodedVideoBytes", .integer(measurement.encodedVideoBytes)),
            ("encodedPictures", .integer(measurement.encodedPictures)),
            ("skippedPictures", .integer(measurement.skippedPictures)),
        ]
        if let linkEstimate { fields.append(("linkBitsPerSecond", .integer(linkEstimate.bitsPerSecond))) }
        return Event("measured", code: 0, text: nil, fields: fields)
    }

    private static func kilobits(_ rate: Bitrate) -> String { fixed(rate.kilobitsPerSecond, decimals: 0) }
}

extension OperatingPoint {
    /// Video and audio together.
    public var mediaBitrate: Bitrate {
        let video = videoQuality == nil ? 0 : videoBitrate.bitsPerSecond
        return Bitrate(bitsPerSecond: video + (audioQuality?.bitrate.bitsPerSecond ?? 0))
    }

    /// The name of the row, as people write it.
    public var qualityName: String { videoQuality?.name ?? audioQuality.map { "audio \($0.name)" } ?? "none" }

    var summary: String {
        var parts: [String] = []
        if let videoQuality {
            parts.append(
                "\(videoQuality.name), \(frameRate.framesPerSecond) fps, "
                    + "\(fixed(videoBitrate.kilobitsPerSecond, decimals: 0)) kbit/s")
        }
        if let audioQuality {
            parts.append("audio \(fixed(audioQuality.bitrate.kilobitsPerSecond, decimals: 0)) kbit/s")
        }
        return parts.joined(separator: ", ")
    }

    /// What events say of it.
    public var fields: [(name: String, value: Event.Value)] {
        var fields: [(name: String, value: Event.Value)] = [
            ("quality", .text(qualityName)), ("targetBitsPerSecond", .integer(mediaBitrate.bitsPerSecond)),
        ]
        if videoQuality != nil {
            fields.append(("videoBitsPerSecond", .integer(videoBitrate.bitsPerSecond)))
            fields.append(("framesPerSecond", .integer(frameRate.framesPerSecond)))
        }
        if let audioQuality {
            fields.append(("audioBitsPerSecond", .integer(audioQuality.bitrate.bitsPerSecond)))
        }
        return fields
    }
}

extension QualityChangeReason {
    /// The reason as scripts know it.
    public var name: String { "\(self)" }
}
