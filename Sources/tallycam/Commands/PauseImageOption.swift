import FilePublishing
import FrameFiltering
import LinuxIO
import MediaPipeline
import Terminal

/// `--pause-image` of `publish`.
enum PauseImageOption {
    /// An unusable image is reported before the stream starts, rather than during the first pause.
    static func path(_ arguments: CommandLineArguments, media: MediaSettings) throws -> String? {
        // An encoded file cannot be paused; `PublishArguments` rejects this and other unsuitable options.
        guard let path = arguments["pause-image"], try PublishedFile(arguments) == nil else { return nil }
        guard !media.video.isNone else {
            throw CommandFailure.usage("--pause-image cannot be combined with --video none: it is shown in the video")
        }
        do throws(StillImageError) {
            _ = try StillImage(reading: path)
            return path
        } catch {
            throw CommandFailure.usage("--pause-image: \(error)")
        }
    }
}
