import ApplianceLogic
import StreamLogic
import StreamQuality

// The status in Prometheus' text format, version 0.0.4.
extension ApplianceStatus {
    package var metrics: [UInt8] {
        var text = MetricsText()
        text.add(
            "tallycam_live", .gauge, "Whether a server has accepted the stream and media flows.", state.isLive ? 1 : 0)
        text.add("tallycam_stream_wanted", .gauge, "Whether a stream was asked for.", isStreamWanted ? 1 : 0)
        text.add(
            "tallycam_network_up", .gauge, "Whether there is a default route.", network?.hasDefaultRoute == true ? 1 : 0
        )
        text.add("tallycam_recording", .gauge, "Whether media is being recorded.", recording.isOn ? 1 : 0)
        text.add("tallycam_running_seconds", .gauge, "Since the program's start.", runningTime.inSeconds)
        text.begin("tallycam_fault", .gauge, "Each present fault, by the number of its blinks.")
        for fault in faults { text.add("tallycam_fault", 1, ["blinks": "\(fault.blinkCount)"]) }
        if let status = stream.status { text.add(status) }
        return Array(text.text.utf8)
    }
}

extension MetricsText {
    fileprivate mutating func add(_ status: StreamStatus) {
        add("tallycam_live_seconds", .gauge, "Since the stream went live.", status.liveDuration?.inSeconds ?? 0)
        add(
            "tallycam_target_bits_per_second", .gauge, "Rate that the encoders are asked for.",
            Double(status.point.mediaBitrate.bitsPerSecond))
        add(
            "tallycam_sent_bits_per_second", .gauge, "Rate of what is sent to the leading server.",
            Double(status.rates.total.bitsPerSecond))
        add(
            "tallycam_frames_per_second", .gauge, "Video frames sent to the leading server.",
            status.rates.videoFramesPerSecond)
        let encoded = status.encoded
        add("tallycam_encoded_frames_total", .counter, "Frames that the encoder gave.", Double(encoded.encodedFrames))
        add(
            "tallycam_skipped_frames_total", .counter, "Frames that the encoder left out.",
            Double(encoded.skippedFrames))
        add(
            "tallycam_missed_frames_total", .counter, "Frames of the camera that came too late.",
            Double(encoded.missedFrames))
        addServers(of: status)
    }

    private typealias Server = (name: String?, buffered: Duration, sent: SentCounters, deliveredBytes: Int)

    /// One server has no name.
    private mutating func addServers(of status: StreamStatus) {
        let one: Server = (nil, status.buffered, status.sent, status.deliveredBytes)
        let several: [Server] = status.targets.map { ($0.name, $0.buffered, $0.sent, $0.deliveredBytes) }
        let servers = several.isEmpty ? [one] : several
        add("tallycam_buffered_seconds", .gauge, "Media that waits for the link.", servers) { $0.buffered.inSeconds }
        add("tallycam_sent_frames_total", .counter, "Video frames sent.", servers) { Double($0.sent.sentFrames) }
        add("tallycam_dropped_frames_total", .counter, "Video frames that the link was too slow for.", servers) {
            Double($0.sent.droppedFrames)
        }
        add("tallycam_delivered_bytes_total", .counter, "Bytes of media that the server has acknowledged.", servers) {
            Double($0.deliveredBytes)
        }
    }

    private mutating func add(
        _ name: String, _ kind: Kind, _ help: String, _ servers: [Server], _ value: (Server) -> Double
    ) {
        begin(name, kind, help)
        for server in servers { add(name, value(server), server.name.map { ["target": $0] } ?? [:]) }
    }
}

/// Lines of Prometheus' text format.
private struct MetricsText {
    enum Kind: String { case gauge, counter }

    private(set) var text = ""

    /// A metric with one value.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        begin(name, kind, help)
        add(name, value, [:])
    }

    mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func add(_ name: String, _ value: Double, _ labels: KeyValuePairs<String, String>) {
        let pairs = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        text += "\(name)\(pairs.isEmpty ? "" : "{\(pairs)}") \(value)\n"
    }

    private static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
