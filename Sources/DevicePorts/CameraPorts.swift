import Media

/// A camera that is open. Used from one thread.
public protocol Camera: FrameProvider {
    /// The device, as people know it.
    var name: String { get }
    /// As the driver names it: `name` without the place where it is.
    var model: String { get }

    /// Waits for the next frame until the clock shows `deadline`. The first call starts the camera.
    /// - Throws: the camera's typed error when it is gone or gives no frames any more. It has to be opened again then.
    func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame
}

/// Sides of a frame that are exchanged.
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

/// What waiting for a frame has brought.
public enum CameraFrame: Sendable {
    case captured(CapturedFrame)
    /// The time is over.
    case none
    /// The source was asked to stop.
    case stopped
}

/// What a camera is opened with. What is `nil` follows the stream.
public struct CameraSettings: Hashable, Sendable {
    /// A path, an id or a location; empty for the first camera.
    public var device: String
    public var size: FrameSize?
    public var frameRate: FrameRate?
    public var format: FourCC?
    public var lowLight = LowLight.noisy
    /// `nil`: nothing is done about lamps that flicker.
    public var mains: MainsFrequency?
    /// The name of a sensor's tuning file of libcamera's, for modules that the sensor's name does not tell apart.
    public var tuning: String?
    /// It is opened for one frame of full size: a few buffers are enough, and many may not fit into memory.
    public var isForStills = false
    /// That save the processor a pass over each frame, where the camera can: beside what `controls` say.
    public var flips = FrameFlips()
    /// By the camera's own names, in the order in which they are set.
    public var controls: [Control]

    /// What a dark room does to the video.
    public enum LowLight: String, CaseIterable, Sendable {
        /// Gain: frames keep coming at their rate.
        case noisy
        /// Exposure: there may be fewer frames, but not fewer than `slowestRate`.
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

/// Why a camera does not open or start.
public protocol CameraFailure: Error {
    /// Whether what another open camera holds may be the reason: the device itself, its bus, memory for its buffers.
    var mayBeContention: Bool { get }
}
