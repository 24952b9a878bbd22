import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// What a stream wants of a source, for what the choice of the source leaves open.
public struct SourceWish: Hashable, Sendable {
    public let size: FrameSize
    /// That a camera may give beside, by `FrameSizeSelection`, if the processor has no part in it.
    public let secondSize: FrameSize?
    public let frameRate: FrameRate
    /// That a camera may do; `VideoSource.flips` and `Camera.flips` say whether it does.
    public let flips: FrameFlips
    /// One frame of full size is wanted.
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

/// Where frames come from.
public protocol VideoSourceChoice: Sendable {
    /// No video at all.
    var isNone: Bool { get }
    /// Whether frames come from a device, in its own memory.
    var isCamera: Bool { get }
    /// Whether what is not read of it is lost, as of cameras and test patterns; files and pipes wait.
    var isLive: Bool { get }
    /// What is known of it before anything is opened.
    var frameRate: FrameRate? { get }
    var readsStandardInput: Bool { get }

    /// - Parameter stop: once signalled, the source ends at once. It is not drained.
    func open(
        _ wish: SourceWish, stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void
    ) throws -> (any VideoSource)?

    /// What opens it as one of several cameras. `nil` for what is no camera, and cannot be left and taken up again.
    func cameraOpening(_ wish: SourceWish) -> CameraOpening?
}

extension VideoSourceChoice {
    public func cameraOpening(_ wish: SourceWish) -> CameraOpening? { nil }
}

/// One of several cameras, by the name that commands have for it.
public struct NamedCamera: Sendable {
    public let name: String
    public let choice: any VideoSourceChoice

    public init(name: String, choice: any VideoSourceChoice) {
        self.name = name
        self.choice = choice
    }
}
