import DevicePorts
import FileSources
import LibcameraCapture
import LinuxIO
import Media
import MediaPipeline
import StreamLogic
import StreamQuality
import Synchronization
import SyntheticSources
import Terminal
import V4L2Devices
import VideoCapture

/// A source of frames: a camera, or a source that needs no camera.
package enum VideoInput: VideoSourceChoice, Hashable {
    case embedded(VideoSourceDescription)
    /// A PNG or JPEG file.
    case image(path: String)
    case movie(MovieChoice)
    case v4l2(CameraSettings)
    case libcamera(CameraSettings)
    /// Any camera; the settings do not name one.
    case firstCamera(CameraSettings)

    package static let none = VideoInput.embedded(.none)

    package var isNone: Bool { self == .none }
    package var readsStandardInput: Bool { if case .embedded(.raw("-", _, _, _, _)) = self { true } else { false } }
    /// Whether frames come from a device, in its own memory.
    package var isCamera: Bool {
        switch self {
        case .embedded, .image, .movie: false
        case .v4l2, .libcamera, .firstCamera: true
        }
    }

    package var isLive: Bool { if case .movie = self { false } else { isSwitchable } }

    /// Whether it can be one of several cameras: it can be stopped and resumed.
    package var isSwitchable: Bool {
        switch self {
        case .embedded(let source): source == .synthetic
        case .image, .movie, .v4l2, .libcamera, .firstCamera: true
        }
    }

    package var isFile: Bool {
        switch self {
        case .image, .movie: true
        case .embedded, .v4l2, .libcamera, .firstCamera: false
        }
    }

    package var path: String? {
        switch self {
        case .image(let path): path
        case .movie(let movie): movie.path
        case .v4l2(let settings): settings.device
        case .embedded, .libcamera, .firstCamera: nil
        }
    }

    /// `nil` if it is not a movie.
    package var movie: MovieChoice? { if case .movie(let movie) = self { movie } else { nil } }

    package init(parsing text: String) throws {
        if let settings = try CameraSettings(parsing: text, scheme: "v4l2") {
            guard settings.device.hasPrefix("/") else {
                throw CommandFailure.usage("v4l2: takes a path, v4l2:/dev/videoN, not \"\(settings.device)\"")
            }
            self = .v4l2(settings)
        } else if let settings = try CameraSettings(parsing: text, scheme: "libcamera") {
            self = .libcamera(settings)
        } else if let file = try FileChoice(parsing: text) {
            self = file.video
        } else {
            do {
                self = .embedded(try VideoSourceDescription(parsing: text))
            } catch {
                throw CommandFailure.usage(
                    "\(error); files are image:FILE and movie:FILE.mp4; cameras are v4l2:/dev/videoN and libcamera[:ID]"
                )
            }
        }
    }

    /// The frame rate given on the command line, known before opening.
    package var frameRate: FrameRate? {
        switch self {
        case .embedded(.raw(_, _, _, let frameRate, _)): frameRate
        case .embedded, .image, .movie: nil
        case .v4l2(let settings), .libcamera(let settings), .firstCamera(let settings): settings.frameRate
        }
    }

    /// The source's own size; `nil` if it adapts to the stream's. Reads a file's header, which takes as long as a disk does.
    package func ownSize() throws -> FrameSize? {
        switch self {
        case .embedded(.raw(_, _, let size, _, _)): size
        case .embedded: nil
        case .image(let path): try ImageFile(path).size
        case .movie(let movie): try MovieSource.size(of: movie.path)
        case .v4l2(let settings), .libcamera(let settings), .firstCamera(let settings): settings.size
        }
    }

    /// Whether it is a file or pipe of raw frames.
    package var isRaw: Bool { if case .embedded(.raw) = self { true } else { false } }

    /// The same source, as fast as a pipe's writer.
    package var unpaced: VideoInput {
        if case .embedded(let source) = self { .embedded(source.unpaced) } else { self }
    }

    package func open(
        _ wish: SourceWish, stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void
    ) throws -> (any VideoSource)? {
        if case .embedded(let source) = self {
            return try source.open(size: wish.size, frameRate: wish.frameRate, stop: stop)
        }
        var opening = cameraOpening(wish)
        if case .movie(let movie) = self {
            opening = { try MovieSource(movie.path, clock: movie.clock, loops: movie.loops, stop: $0) }
        }
        return try opening.map { opening in
            guard isFile else { return try ResilientCamera(stop: stop, notify: notify) { try opening(stop) } }
            return try ResilientCamera(
                SwitchableCamera(path: path, isFile: isFile, open: opening), stop: stop, notify: notify)
        }
    }

    package func cameraOpening(_ wish: SourceWish) -> CameraOpening? {
        switch self {
        case .embedded(.synthetic):
            return { TestPatternCamera(size: wish.size, frameRate: wish.frameRate, stop: $0) }
        case .embedded: return nil
        case .image(let path):
            return { try ImageSource(path, size: wish.size, frameRate: wish.frameRate, stop: $0) }
        case .movie(let movie):
            // A resumed movie restarts and never ends: a camera that ended would count as lost.
            return { try MovieSource(movie.path, clock: MovieClock(), loops: true, stop: $0) }
        case .v4l2(var settings):
            settings.take(wish)
            return { [settings] in
                try V4L2Camera.open(settings, size: wish.size, frameRate: wish.frameRate, stop: $0)
            }
        case .libcamera(var settings):
            settings.take(wish)
            // Another camera in the same place is not the same camera returning.
            let found = FoundCamera()
            return { [settings] stop in
                var settings = settings
                if let id = found.id.withLock({ $0 }) { settings.device = id }
                let camera = try LibcameraCamera(
                    settings, size: wish.size, smallerSize: wish.secondSize, frameRate: wish.frameRate, stop: stop)
                let id = camera.id
                if !settings.device.isEmpty { found.id.withLock { $0 = id } }
                return camera
            }
        case .firstCamera(var settings):
            settings.take(wish)
            return { [settings] in try Self.firstCamera(settings, wish, stop: $0) }
        }
    }

    /// Remembers which libcamera camera was meant.
    private final class FoundCamera: Sendable {
        let id = Mutex<String?>(nil)
    }

    /// libcamera's first camera; if none of its cameras suits an encoder, the first one that V4L2 can open.
    private static func firstCamera(
        _ settings: CameraSettings, _ wish: SourceWish, stop: EventFD
    ) throws -> any Camera {
        do {
            return try LibcameraCamera(
                settings, size: wish.size, smallerSize: wish.secondSize, frameRate: wish.frameRate, stop: stop)
        } catch {
            switch error {
            case .none, .unsupportedFormat: break
            default: throw error
            }
            for webcam in V4L2CameraDescription.all() {
                var settings = settings
                settings.device = webcam.path
                let camera = try? V4L2Camera.open(
                    settings, size: wish.size, frameRate: wish.frameRate, stop: stop)
                if let camera { return camera }
            }
            throw error
        }
    }
}

extension CameraSettings {
    fileprivate mutating func take(_ wish: SourceWish) {
        flips = wish.flips
        isForStills = wish.isForStills
    }

    /// Parses `SCHEME:DEVICE,key=value,...`. The keys `size`, `fps` and `format` choose the mode, `low-light` and `mains` the
    /// exposure, and `tuning` libcamera's tuning file. Every other key is a camera control.
    /// - Returns: `nil` if the text starts with another scheme.
    package init?(parsing text: String, scheme: String) throws {
        guard text == scheme || text.hasPrefix("\(scheme):") || text.hasPrefix("\(scheme),") else { return nil }
        var parts = text.dropFirst(scheme.utf8.count + 1).split(separator: ",", omittingEmptySubsequences: false)[...]
        self.init(device: "")
        if let first = parts.first, first.firstIndex(of: "=") == nil {
            device = String(first)
            parts = parts.dropFirst()
        }
        for part in parts {
            guard let separator = part.firstIndex(of: "="), separator > part.startIndex else {
                throw CommandFailure.usage("\"\(part)\" in \"\(text)\" is not NAME=VALUE")
            }
            let name = String(part[..<separator])
            let value = String(part[part.index(after: separator)...])
            try take(name, value)
        }
    }

    private mutating func take(_ name: String, _ value: String) throws {
        switch name {
        case "size":
            let sides = value.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
            guard sides.count == 2, let width = sides[0], let height = sides[1], (16...8192).contains(width),
                (16...8192).contains(height)
            else { throw CommandFailure.usage("a size is WIDTHxHEIGHT, each side 16 to 8192 pixels, not \"\(value)\"") }
            size = FrameSize(width: width, height: height)
        case "fps":
            guard let fps = Int(value), (1...240).contains(fps) else {
                throw CommandFailure.usage("fps is a whole number from 1 to 240, not \"\(value)\"")
            }
            frameRate = FrameRate(framesPerSecond: fps)
        case "format":
            guard (3...4).contains(value.utf8.count) else {
                throw CommandFailure.usage("format is a code of four characters, like NV12 or MJPG, not \"\(value)\"")
            }
            format = FourCC(value)
        case "low-light":
            guard let choice = LowLight(rawValue: value) else {
                throw CommandFailure.usage("low-light is noisy (the frame rate holds) or slow, not \"\(value)\"")
            }
            lowLight = choice
        case "mains":
            guard let frequency = Int(value).flatMap(MainsFrequency.init(rawValue:)) else {
                throw CommandFailure.usage(
                    "mains is 50 or 60, the frequency of the lamps' electricity, not \"\(value)\"")
            }
            mains = frequency
        case "tuning": tuning = value
        default: controls.append(Control(name: name, value: value))
        }
    }
}
