import LinuxIO
import MachineDevices
import Media
import MediaPipeline
import Publishing
import StreamQuality
import Terminal
import VideoCapture

/// Options of `tallycam publish` about reading sources.
enum SourceOptions {
    static let orientation = CommandLineOption(
        "orientation", takes: "DEGREES",
        help: "rotate frames clockwise: 0 (default), 90, 180 or 270; the\nframe size is that of the rotated frame")

    static let pace = CommandLineOption(
        "pace", takes: "PACE",
        help: """
            speed of --from-flv, --from-mp4 and raw pipes: realtime (default)
            or fast, as fast as the server or the pipe allows
            """)

    static func rotation(_ arguments: CommandLineArguments) throws(CommandFailure) -> FrameRotation {
        guard let text = arguments["orientation"] else { return FrameRotation() }
        guard let angle = Int(text).flatMap(FrameRotation.Angle.init(rawValue:)) else {
            throw .usage("--orientation must be 0, 90, 180 or 270 degrees clockwise, not \(quoted(text.prefix(60)))")
        }
        return FrameRotation(angle)
    }

    static func pace(_ arguments: CommandLineArguments) throws(CommandFailure) -> PublishSettings.Pace {
        guard let text = arguments["pace"] else { return .realtime }
        guard let pace = PublishSettings.Pace(rawValue: text) else {
            throw .usage("--pace must be realtime or fast, not \(quoted(text.prefix(60)))")
        }
        return pace
    }

    /// Checks that the stream has a source whose pace can be chosen.
    static func checkPace(_ media: MediaSettings) throws(CommandFailure) {
        let hasRawVideo = (media.video as? VideoInput)?.isRaw ?? false
        let hasRawAudio = (media.audio as? AudioInput)?.hasRaw ?? false
        guard hasRawVideo || hasRawAudio else {
            throw .usage("--pace can only be used with --from-flv, --from-mp4 and raw: sources")
        }
    }

    /// - Parameter text: as for `VideoDimension`, or `source`.
    static func dimension(
        _ text: String, of source: any VideoSourceChoice, _ rotation: FrameRotation
    ) throws -> VideoDimension {
        guard text.lowercased() == "source" else { return try VideoDimension(parsing: text) }
        guard let size = try (source as? VideoInput)?.ownSize() else {
            throw CommandFailure.usage(
                "--dimension source: this source has no size of its own; give it as WxH, or a camera's as size=WxH "
                    + "in --video")
        }
        do throws(QualityError) {
            return try VideoDimension(rotation.rotated(size))
        } catch {
            throw CommandFailure.usage("--dimension source: \(error)")
        }
    }
}
