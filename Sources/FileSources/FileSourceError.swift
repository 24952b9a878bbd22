import Bitstream
import DevicePorts
import Glibc
import LinuxIO
import Media

/// Why an image or movie cannot be used as a source, or cannot continue.
public enum FileSourceError: Error, Hashable, Sendable {
    /// The expected kind of file.
    public enum Kind: String, Sendable {
        case image
        case movie
    }

    public enum Track: String, Sendable {
        case video
        case audio
    }

    /// The error includes the path.
    case unreadable(SystemCallError)
    /// - Parameter found: the file's actual kind; `nil` if unknown.
    case wrongKind(path: String, wanted: Kind, found: String?)
    case tooLargeImage(path: String, FrameSize)
    /// - Parameter reason: the library's message.
    case brokenImage(path: String, reason: String)
    case brokenMovie(path: String, BitstreamError)
    /// The movie has no table of contents.
    case unfinished(path: String)
    /// - Parameter found: the format of such a track, if there is one.
    case noTrack(path: String, Track, found: String?)
    case unsupportedVideo(path: String, reason: String)
    case unsupportedAudio(path: String, reason: String)
    case decoderFailed(call: String, status: Int)
    case systemFailed(SystemCallError)
    /// The file's disk does not answer.
    case unanswered(NodeOccupancyError)
}

extension FileSourceError: CameraFailure {
    public var mayBeContention: Bool { false }

    public var isPermanent: Bool {
        switch self {
        case .unreadable, .systemFailed, .unanswered: false
        default: true
        }
    }
}

extension FileSourceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let error):
            // The file has no end, or cannot be read at arbitrary positions.
            error.fileProblem + (error.number == EINVAL ? "; images and movies are files" : "")
        case .wrongKind(let path, let wanted, let found):
            found.map { "\(path) is not \(wanted.wanted): this is \($0)\(wanted.advice(found: $0, path))" }
                ?? "\(path) is not \(wanted.wanted)\(wanted.generalAdvice(path))"
        case .tooLargeImage(let path, let size):
            "\(path) has \(size) pixels; reduce it to at most \(ImageFile.mostPixels) in all and \(ImageFile.longestSide) a side"
        case .brokenImage(let path, let reason): "\(path) is damaged: \(reason)"
        case .brokenMovie(let path, .truncated):
            "\(path) is cut off: it ends before its last frame; copy it again"
        case .brokenMovie(let path, let error): "\(path): \(error)"
        case .unfinished(let path):
            "\(path) has no table of contents (moov): it was cut off, or is still being written"
        case .noTrack(let path, .video, let found):
            "\(path) has no H.264 video" + (found.map { ": its video is \($0)" } ?? "")
        case .noTrack(let path, .audio, let found):
            "\(path) has no AAC audio" + (found.map { ": its audio is \($0)" } ?? "")
        case .unsupportedVideo(let path, let reason): "\(path): its video cannot be decoded: \(reason)"
        case .unsupportedAudio(let path, let reason): "\(path): its audio cannot be decoded: \(reason)"
        case .decoderFailed(let call, let status): "\(call) failed with status \(status)"
        case .systemFailed(let error): "\(error)"
        case .unanswered(let error): "\(error)"
        }
    }
}

extension FileSourceError.Kind {
    fileprivate var wanted: String { self == .image ? "a PNG or JPEG image" : "an MP4 movie" }

    fileprivate func advice(found: String, _ path: String) -> String {
        switch (self, found) {
        case (.movie, "a PNG file"), (.movie, "a JPEG file"): "; give it as image:\(path)"
        case (.image, "an MP4 file"): "; give it as movie:\(path)"
        case (.movie, "an FLV file"): "; publish it by --from-flv"
        // There is nothing to convert.
        case (_, "a JSON file"), (_, "a program"), (_, "a PDF file"), (_, "a ZIP file"), (_, "a gzip file"): ""
        default: generalAdvice(path)
        }
    }

    fileprivate func generalAdvice(_ path: String) -> String {
        self == .image
            ? "; ffmpeg -i \(path) image.png converts most images"
            : "; ffmpeg -i \(path) movie.mp4 converts most movies"
    }
}
