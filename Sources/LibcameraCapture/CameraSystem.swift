import CLibcamera
import DevicePorts
import Glibc
import LinuxIO
import Media
import Synchronization

/// libcamera's camera manager. A process has at most one, and its cameras keep it alive. A camera plugged in later is seen only
/// by the next manager.
public final class CameraSystem: Sendable {
    private struct Present {
        weak var system: CameraSystem?
    }

    private static let present = Mutex(Present())

    /// The manager's address. A pointer is not Sendable, and the lock makes sharing safe.
    private let handle: Mutex<UInt>

    /// Returns the existing manager, or creates one.
    /// - Parameter tuning: a tuning file from `CameraTuning.directory` for the Raspberry Pi's sensors. An existing manager
    ///   keeps its own.
    public static func shared(tuning: CameraTuning? = nil) throws(CameraError) -> CameraSystem {
        let result = present.withLock { present -> Result<CameraSystem, CameraError> in
            if let system = present.system { return .success(system) }
            return Result { () throws(CameraError) in
                CameraTuning.choose(tuning)
                let system = try CameraSystem()
                present.system = system
                return system
            }
        }
        return try result.get()
    }

    private init() throws(CameraError) {
        if getenv("LIBCAMERA_LOG_LEVELS") == nil { clibcamera_be_quiet() }
        var manager: OpaquePointer?
        let status = clibcamera_manager_start(&manager)
        // Without a media device, the manager does not start at all.
        if status == -ENODEV { throw .none(asked: "", reason: CameraAbsence().reason) }
        guard status >= 0, let manager else { throw CameraError("manager", "CameraManager::start", status) }
        handle = Mutex(UInt(bitPattern: manager))
    }

    deinit {
        handle.withLock { address in
            if let manager = OpaquePointer(bitPattern: address) { clibcamera_manager_stop(manager) }
        }
    }

    /// The cameras present now.
    public func cameras() -> [CameraDescription] { describe { CameraDescription($0) } }

    /// The cameras present now, with their controls' ranges for a stream of this size. Until a camera is configured, libcamera
    /// reports ranges that apply to none of its modes.
    public func cameras(configuredFor size: FrameSize, _ frameRate: FrameRate) -> [CameraDescription] {
        describe { camera in
            var description = CameraDescription(camera)
            let problem = Self.configure(camera, description, size, frameRate)
            if problem == nil { description = CameraDescription(camera) }
            description.ranges = problem.map { .unknown($0) } ?? .configured(size)
            return description
        }
    }

    private func describe(_ description: (OpaquePointer) -> CameraDescription) -> [CameraDescription] {
        handle.withLock { address in
            guard let manager = OpaquePointer(bitPattern: address) else { return [] }
            return (0..<clibcamera_camera_count(manager)).compactMap { index in
                guard let camera = clibcamera_camera_get(manager, index) else { return nil }
                defer { clibcamera_camera_release(camera) }
                return description(camera)
            }
        }
    }

    /// Configures the camera like a stream does.
    private static func configure(
        _ camera: OpaquePointer, _ description: CameraDescription, _ size: FrameSize, _ frameRate: FrameRate
    ) -> CameraError? {
        let settings = CameraSettings(device: description.id)
        guard let format = try? LibcameraCamera.format(settings, of: description) else {
            return .unsupportedFormat(camera: description.id, format: "any")
        }
        let wish = StreamWish(format: format, size: size, bufferCount: 1)
        let (busy, mode) = sensorMode(of: camera, for: wish, frameRate)
        var wanted = clibcamera_format(wish, flips: FrameFlips(), mode)
        let status = busy < 0 ? busy : clibcamera_camera_configure(camera, &wanted)
        return status < 0 ? CameraError(description.id, "Camera::configure", status) : nil
    }

    /// The sensor mode for the camera at an index of `cameras()`; `nil` leaves the choice to the camera. A camera in use
    /// reports that later, when it is opened.
    func sensorMode(_ index: Int, for wish: StreamWish, _ frameRate: FrameRate) -> SensorMode? {
        handle.withLock { address in
            guard let manager = OpaquePointer(bitPattern: address), let camera = clibcamera_camera_get(manager, index)
            else { return nil }
            defer { clibcamera_camera_release(camera) }
            return Self.sensorMode(of: camera, for: wish, frameRate).mode
        }
    }

    private static func sensorMode(
        of camera: OpaquePointer, for wish: StreamWish, _ frameRate: FrameRate
    ) -> (status: Int32, mode: SensorMode?) {
        let modes = Collected<SensorMode>()
        var wanted = clibcamera_format(wish, flips: FrameFlips(), nil)
        let status = clibcamera_camera_sensor_modes(
            camera, &wanted,
            { context, mode in
                guard let mode = mode?.pointee else { return }
                Collected<SensorMode>.from(context)?.items.append(SensorMode(mode))
            }, modes.context)
        return (status, SensorMode.best(of: modes.items, for: wish.size, frameRate: frameRate))
    }

    /// Opens a session on the camera at an index of `cameras()`, with one stream per format.
    func open(
        _ index: Int, _ formats: inout [clibcamera_format], _ listener: clibcamera_listener
    ) -> (status: Int32, session: UInt) {
        handle.withLock { address in
            guard let manager = OpaquePointer(bitPattern: address), let camera = clibcamera_camera_get(manager, index)
            else { return (-ENODEV, 0) }
            defer { clibcamera_camera_release(camera) }
            var session: OpaquePointer?
            let status = clibcamera_session_open(camera, &formats, formats.count, listener, &session)
            return (status, UInt(bitPattern: session))
        }
    }
}

/// A camera's description, available without starting the camera.
public struct CameraDescription: Hashable, Sendable {
    public enum Location: Int32, Sendable {
        case front, back, external
    }

    public struct Mode: Hashable, Sendable {
        public let format: FourCC
        public let modifier: UInt64
        public let smallest: FrameSize
        public let largest: FrameSize
    }

    /// The configuration that the frame rates and control ranges apply to.
    public enum Ranges: Hashable, Sendable {
        /// Not configured: the ranges are the widest that libcamera knows.
        case unconfigured
        case configured(FrameSize)
        /// Like `unconfigured`, because the camera could not be configured.
        case unknown(CameraError)
    }

    public let id: String
    public let model: String
    public let location: Location?
    public internal(set) var ranges = Ranges.unconfigured
    /// Slowest and fastest rate in frames per second, if the camera reports them.
    public let frameRates: ClosedRange<Double>?
    public let modes: [Mode]
    public let controls: [CameraControl]

    init(
        id: String, model: String, location: Location?, frameRates: ClosedRange<Double>? = nil, modes: [Mode] = [],
        controls: [CameraControl] = []
    ) {
        self.id = id
        self.model = model
        self.location = location
        self.frameRates = frameRates
        self.modes = modes
        self.controls = controls
    }

    init(_ camera: OpaquePointer) {
        id = String(cString: clibcamera_camera_id(camera))
        model = String(cString: clibcamera_camera_model(camera))
        location = Location(rawValue: Int32(clibcamera_camera_location(camera)))
        frameRates = Self.frameRates(camera)
        let modes = Collected<Mode>()
        clibcamera_camera_modes(
            camera,
            { context, mode in
                guard let mode = mode?.pointee else { return }
                let smallest = FrameSize(width: Int(mode.minimum_width), height: Int(mode.minimum_height))
                let largest = FrameSize(width: Int(mode.maximum_width), height: Int(mode.maximum_height))
                let format = FourCC(rawValue: mode.fourcc)
                Collected<Mode>.from(context)?.items.append(
                    Mode(format: format, modifier: mode.modifier, smallest: smallest, largest: largest))
            }, modes.context)
        self.modes = modes.items
        let controls = CameraControl.collect { clibcamera_camera_controls(camera, $0, $1) }
        self.controls = (controls + CameraControl.flips(of: camera)).sorted { $0.name < $1.name }
    }

    private static func frameRates(_ camera: OpaquePointer) -> ClosedRange<Double>? {
        var least: Int64 = 0
        var most: Int64 = 0
        guard clibcamera_camera_frame_durations(camera, &least, &most) == 0, least > 0, most >= least else {
            return nil
        }
        return 1e6 / Double(most)...1e6 / Double(least)
    }
}

/// A list that a C function fills through callbacks during one call.
final class Collected<Item> {
    var items: [Item] = []

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ context: UnsafeMutableRawPointer?) -> Collected<Item>? {
        context.map { Unmanaged<Collected<Item>>.fromOpaque($0).takeUnretainedValue() }
    }
}
