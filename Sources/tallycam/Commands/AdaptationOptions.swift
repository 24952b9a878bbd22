import LinuxIO
import Media
import MediaPipeline
import Publishing
import StreamLogic
import StreamQuality
import Terminal

/// The command line's part of `QualitySettings`.
enum AdaptationOptions {
    static let options = [
        CommandLineOption(
            "adapt", takes: "POLICY",
            help: """
                parts that adapt to a slow network: nothing (bit rates stay as set),
                seamless (default: bit rate and frame rate), or restart (a High
                stream may also restart as Medium or Low, and return)
                """),
        CommandLineOption(
            "resize", takes: "POLICY",
            help: """
                change of the frame size on a slow network: never, seamless (it
                changes within the stream) or restart (the stream restarts);
                the default depends on the service, mostly seamless
                """),
        CommandLineOption(
            "smallest-size", takes: "WxH",
            help: "smallest frame size (default: a third of each side, at least 320x180)"),
        CommandLineOption(
            "bitrate", takes: "MIN,START,MAX",
            help: """
                limits of the video's bit rate in kbit/s (default: 150, the
                quality's, the quality's); or SD (400,800,1200 at 20 fps),
                HD (1000,1400,1800 at 24), FHD (1200,1800,2400 at 30)
                """),
        CommandLineOption("keep-audio-quality", help: "keep the audio's bit rate, even if little is left for video"),
        CommandLineOption(
            "buffer", takes: "SECONDS", help: "seconds of media to buffer, 1 to 5 (default 3)"),
        CommandLineOption(
            "buffer-thresholds", takes: "LOW,HIGH",
            help: """
                fractions of the buffer, 0 to 1, at least 0.1 apart (default 0.2,0.8):
                below LOW the quality may rise, above HIGH it is lowered
                """),
        CommandLineOption(
            "tuning", takes: "NAME=N,...",
            help: """
                constants of the adaptation: share (0.94), flight (0.4 s), drain (3 s),
                stall (1 s), probe-wait (4 s), longest-probe-wait (24 s), growth (1.5),
                fall-wait (5 s), rise-wait (10 s); see docs/explain/quality.md
                """),
    ]

    /// - Parameter warnings: receives warnings about how the service may react.
    static func settings(
        _ arguments: CommandLineArguments, media: MediaSettings, destinations: PublishDestinations,
        warnings: inout [String]
    ) throws -> QualitySettings {
        var settings = QualitySettings(
            videoQuality: media.video.isNone ? nil : media.quality,
            audioQuality: media.audio.isNone ? nil : media.audioQuality)
        settings.sourceFrameRate = media.video.frameRate
        do throws(QualityError) {
            let resize = try arguments["resize"].map { text throws(QualityError) in try ResizePolicy(named: text) }
            settings.resize = resize ?? destinations.usualResizePolicy
            if let warning = resize.flatMap(destinations.warning) { warnings.append(warning) }
            if let policy = arguments["adapt"] { settings.policy = try AdaptationPolicy(named: policy) }
            if let range = arguments["bitrate"] { settings.setBitrate(try BitrateChoice(parsing: range)) }
        } catch {
            throw CommandFailure.usage("--\(error)")
        }
        if let limit = destinations.limit(&settings.bitrateRange) { warnings.append(limit) }
        try settings.tuning.take(arguments["tuning"])
        settings.audioFollowsVideo = !arguments.contains("keep-audio-quality")
        settings.bufferLimits = try limits(arguments)
        return settings
    }

    private static func limits(_ arguments: CommandLineArguments) throws -> SendBufferLimits {
        var seconds = 3.0
        if let text = arguments["buffer"] {
            guard let value = Double(text), value > 0, value < 1000 else {
                throw CommandFailure.usage("--buffer must be a number of seconds, 1 to 5, not \"\(text)\"")
            }
            seconds = value
        }
        var thresholds = [0.2, 0.8]
        if let text = arguments["buffer-thresholds"] {
            let values = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
            guard values.count == 2, let low = values[0], let high = values[1], low.isFinite, high.isFinite else {
                throw CommandFailure.usage(
                    "--buffer-thresholds must be LOW,HIGH, two fractions such as 0.2,0.8, not \"\(text)\"")
            }
            thresholds = [low, high]
        }
        do {
            return try SendBufferLimits(
                maxDuration: .nanoseconds(Int64(seconds * 1e9)), lowThreshold: thresholds[0],
                highThreshold: thresholds[1])
        } catch {
            throw CommandFailure.usage(message(for: error))
        }
    }

    /// The message with the name of the typed option.
    private static func message(for violation: SendBufferLimits.Violation) -> String {
        switch violation {
        case .maxDurationOutOfRange(let duration):
            "--buffer must be a number of seconds, 1 to 5, not \(duration.inSeconds)"
        case .thresholdOutOfRange(let name, let value):
            "--buffer-thresholds: \(name == "lowThreshold" ? "LOW" : "HIGH") must be from 0 to 1, not \(value)"
        case .thresholdsTooClose(let low, let high):
            "--buffer-thresholds: HIGH must be at least 0.1 above LOW, not \(high) with \(low)"
        }
    }
}

extension ControlTuning {
    /// Parses `NAME=N,...` for the constants that depend on where a stream is used.
    fileprivate mutating func take(_ text: String?) throws {
        for part in text?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let value = Double(words[1]), value.isFinite else {
                throw CommandFailure.usage("--tuning takes NAME=NUMBER, separated by commas, not \"\(part)\"")
            }
            try take(String(words[0]), value)
        }
        guard probeWait >= shortestProbeWait, longestProbeWait >= probeWait else {
            throw CommandFailure.usage(
                "--tuning: probe-wait must be at least 2 s, and longest-probe-wait at least probe-wait")
        }
    }

    private mutating func take(_ name: String, _ value: Double) throws {
        func seconds(_ range: ClosedRange<Double>) throws -> Duration { .seconds(try number(range)) }
        func number(_ range: ClosedRange<Double>) throws -> Double {
            guard range.contains(value) else {
                throw CommandFailure.usage(
                    "--tuning: \(name) must be a number from \(range.lowerBound) to \(range.upperBound), not \(value)")
            }
            return value
        }
        switch name {
        case "share": share = try number(0.5...1)
        case "flight": flightTime = try seconds(0.1...2)
        case "drain": drainTime = try seconds(0.5...30)
        case "stall": stallTime = try seconds(0.5...10)
        case "probe-wait": probeWait = try seconds(2...600)
        case "longest-probe-wait": longestProbeWait = try seconds(2...3600)
        case "growth": fastGrowth = try number(1.05...4)
        case "fall-wait": waitBeforeFall = try seconds(1...600)
        case "rise-wait":
            waitBeforeRise = try seconds(1...3600)
            longestWaitBeforeRise = max(longestWaitBeforeRise, waitBeforeRise)
        default:
            throw CommandFailure.usage(
                "--tuning: unknown name \"\(name)\"; available: share, flight, drain, stall, probe-wait, "
                    + "longest-probe-wait, growth, fall-wait and rise-wait")
        }
    }
}
