import Media

/// An open camera. Used from one thread.
public protocol Camera: FrameProvider {
    /// The device's name for people.
    var name: String { get }
    /// The driver's name: `name` without the location.
    var model: String { get }
    /// The camera's name for people, in a sentence: "the image title.png".
    var origin: String { get }
    /// How the camera ended on its own, for people; `nil` before that, and after a stop.
    var endingNote: String? { get }

    /// Waits for the next frame until `deadline`. The first call starts the camera.
    /// - Throws: the camera's typed error if it was lost or stopped delivering frames. It must then be reopened.
    func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame
}

extension Camera {
    public var origin: String { name }
    public var endingNote: String? { nil }
}

/// The sides of a frame that are swapped.
public struct FrameFlips: Hashable, Sendable {
    /// Left and right.
    public var isHorizontal: Bool
    /// Top and bottom.
    public var isVertical: Bool

    public init(isHorizontal: Bool = false, isVertical: Bool = false) {
        self.isHorizontal = isHorizontal
        self.isVertical = isVertical
    }
}

/// The result of waiting for a frame.
public enum CameraFrame: Sendable {
    case captured(CapturedFrame)
    /// The deadline has passed.
    case none
    /// The source was asked to stop, or has ended on its own.
    case stopped
}

/// The settings for opening a camera. Those that are `nil` follow the stream.
public struct CameraSettings: Hashable, Sendable {
    /// A path, an id or a location; empty for the first camera.
    public var device: String
    public var size: FrameSize?
    public var frameRate: FrameRate?
    public var format: FourCC?
    public var lowLight = LowLight.noisy
    /// `nil` for no correction of flickering lamps.
    public var mains: MainsFrequency?
    /// The name of a libcamera tuning file for the sensor, for modules that share the sensor's name.
    public var tuning: String?
    /// The camera is opened for one frame of full size: a few buffers are enough, and many may not fit in memory.
    public var isForStills = false
    /// Flips that save the processor a pass over each frame if the camera can do them, in addition to those in
    /// `controls`.
    public var flips = FrameFlips()
    /// By the camera's own names, in the order in which they are set.
    public var controls: [Control]

    /// How the video adapts to a dark room.
    public enum LowLight: String, CaseIterable, Sendable {
        /// By gain: the frame rate stays the same.
        case noisy
        /// By exposure: there may be fewer frames, but not fewer than `slowestRate`.
        case slow

        public static let slowestRate = FrameRate(framesPerSecond: 5)
    }

    public struct Control: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(
        device: String, size: FrameSize? = nil, frameRate: FrameRate? = nil, format: FourCC? = nil,
        controls: [Control] = []
    ) {
        self.device = device
        self.size = size
        self.frameRate = frameRate
        self.format = format
        self.controls = controls
    }
}

/// Why a camera cannot be opened or started.
public protocol CameraFailure: Error {
    /// Whether another open camera may hold the required resources: the device itself, its bus, or memory for its
    /// buffers.
    var mayBeContention: Bool { get }
    /// Whether reopening cannot help, because a file's content is at fault.
    var isPermanent: Bool { get }
}

extension CameraFailure {
    public var isPermanent: Bool { false }
}
