import LinuxIO
import Media
import StreamQuality
import SyntheticSources

/// The command line's part of `QualitySettings`.
enum AdaptationOptions {
    static let options = [
        CommandLineOption(
            "adapt", takes: "POLICY",
            help: """
                what a slow network may change: nothing (bit rates stay as set),
                seamless (default: bit rate and frame rate), or restart (a High
                stream may also begin again as Medium or Low, and return)
                """),
        CommandLineOption(
            "bitrate", takes: "MIN,START,MAX",
            help: "kbit/s of the picture that adapting stays in\n(default: 150, the quality's, the quality's)"),
        CommandLineOption("keep-audio-quality", help: "audio keeps its bit rate, however little the picture has left"),
        CommandLineOption(
            "buffer", takes: "SECONDS", help: "of media that may wait for the network, 1 to 5 (default 3)"),
        CommandLineOption(
            "buffer-thresholds", takes: "LOW,HIGH",
            help: "fractions of the buffer, 0 to 1, 0.1 apart or more\n(default 0.2,0.8)"),
    ]

    static func settings(_ arguments: CommandLineArguments, media: MediaOptions) throws -> QualitySettings {
        var settings = QualitySettings(
            videoQuality: media.video == .none ? nil : media.quality,
            audioQuality: media.audio == .none ? nil : media.audioQuality, bitrateRange: try range(arguments, media))
        if let frameRate = media.video.frameRate { settings.frameRateLimit = frameRate }
        switch arguments["adapt"] {
        case "nothing": settings.isAutomatic = false
        case nil, "seamless": settings.groupCrossing = .never
        case "restart": settings.groupCrossing = .restartStream
        case let policy?: throw CommandFailure.usage("--adapt is nothing, seamless or restart, not \"\(policy)\"")
        }
        settings.audioFollowsVideo = !arguments.contains("keep-audio-quality")
        settings.bufferLimits = try limits(arguments)
        return settings
    }

    private static func range(_ arguments: CommandLineArguments, _ media: MediaOptions) throws -> BitrateRange? {
        guard let text = arguments["bitrate"] else { return nil }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let minimum = numbers[0], let start = numbers[1], let maximum = numbers[2],
            (30...100_000).contains(minimum), minimum <= start, start <= maximum, maximum <= 100_000
        else {
            throw CommandFailure.usage(
                "--bitrate is MIN,START,MAX in kbit/s, each 30 to 100000 and none less than the one before, not \"\(text)\""
            )
        }
        return BitrateRange(
            minimum: Bitrate(kilobitsPerSecond: minimum), start: Bitrate(kilobitsPerSecond: start),
            maximum: Bitrate(kilobitsPerSecond: maximum))
    }

    private static func limits(_ arguments: CommandLineArguments) throws -> SendBufferLimits {
        var seconds = 3.0
        if let text = arguments["buffer"] {
            guard let value = Double(text), value > 0, value < 1000 else {
                throw CommandFailure.usage("--buffer is a number of seconds, 1 to 5, not \"\(text)\"")
            }
            seconds = value
        }
        var thresholds = [0.2, 0.8]
        if let text = arguments["buffer-thresholds"] {
            let values = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
            guard values.count == 2, let low = values[0], let high = values[1], low.isFinite, high.isFinite else {
                throw CommandFailure.usage(
                    "--buffer-thresholds is LOW,HIGH, two fractions such as 0.2,0.8, not \"\(text)\"")
            }
            thresholds = [low, high]
        }
        do {
            return try SendBufferLimits(
                maxDuration: .nanoseconds(Int64(seconds * 1e9)), lowThreshold: thresholds[0],
                highThreshold: thresholds[1])
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }
}
