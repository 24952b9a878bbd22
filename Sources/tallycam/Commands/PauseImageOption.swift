import FrameFiltering
import LinuxIO
import MediaPipeline
import Terminal

/// `--pause-image` of `publish`.
enum PauseImageOption {
    /// A slate that cannot be shown is reported before the stream starts, not when viewers see something else.
    static func path(_ arguments: CommandLineArguments, media: MediaSettings) throws -> String? {
        // An encoded file has no pause, which `PublishArguments` says with all else that it does not have.
        guard let path = arguments["pause-image"], !arguments.contains("from-flv") else { return nil }
        guard !media.video.isNone else {
            throw CommandFailure.usage("--pause-image is shown in the video: it does not go with --video none")
        }
        do throws(StillImageError) {
            _ = try StillImage(reading: path)
            return path
        } catch {
            throw CommandFailure.usage("--pause-image: \(error)")
        }
    }
}
