import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A stream's requirements for a source, for everything that the choice leaves open.
public struct SourceWish: Hashable, Sendable {
    public let size: FrameSize
    /// The size of a second stream that the camera may deliver through `FrameSizeSelection`, if the CPU does not process the
    /// frames.
    public let secondSize: FrameSize?
    public let frameRate: FrameRate
    /// Flips that the camera may do; `VideoSource.flips` and `Camera.flips` tell whether it does.
    public let flips: FrameFlips
    /// Whether a single full-size frame is wanted.
    public let isForStills: Bool

    public init(
        size: FrameSize, secondSize: FrameSize? = nil, frameRate: FrameRate, flips: FrameFlips = FrameFlips(),
        isForStills: Bool = false
    ) {
        self.size = size
        self.secondSize = secondSize
        self.frameRate = frameRate
        self.flips = flips
        self.isForStills = isForStills
    }
}

/// A choice of a video source.
public protocol VideoSourceChoice: Sendable {
    /// No video.
    var isNone: Bool { get }
    /// Whether frames come from a device, in its own memory.
    var isCamera: Bool { get }
    /// Whether unread frames are lost, as with cameras and test patterns. Files and pipes wait.
    var isLive: Bool { get }
    /// The frame rate, if it is known before opening.
    var frameRate: FrameRate? { get }
    var readsStandardInput: Bool { get }
    /// The file or device node that it reads; `nil` if unknown.
    var path: String? { get }
    /// Whether it is a file, whose frames are not late when they have waited.
    var isFile: Bool { get }

    /// - Parameter stop: ends the source when signaled. It is not drained.
    func open(
        _ wish: SourceWish, stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void
    ) throws -> (any VideoSource)?

    /// Opens it as one of several cameras. `nil` for sources that cannot be stopped and resumed.
    func cameraOpening(_ wish: SourceWish) -> CameraOpening?
}

extension VideoSourceChoice {
    public var path: String? { nil }
    public var isFile: Bool { false }
    public func cameraOpening(_ wish: SourceWish) -> CameraOpening? { nil }
}

/// One of several cameras, under its name in commands.
public struct NamedCamera: Sendable {
    public let name: String
    public let choice: any VideoSourceChoice

    public init(name: String, choice: any VideoSourceChoice) {
        self.name = name
        self.choice = choice
    }
}
