import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media
import Synchronization

/// An H.264 encoder of this machine, identified by its capabilities: any stateful V4L2 memory-to-memory device that turns raw
/// frames into H.264, with the single-planar or multi-planar interface.
public struct V4L2EncoderNode: Hashable, Sendable {
    public let path: String
    /// As reported by the driver.
    public let name: String
    let isMultiplanar: Bool
    /// Accepted raw formats, in the driver's order.
    let formats: [PixelFormat]
    let smallest: FrameSize
    let largest: FrameSize

    /// How long a driver may take to identify itself.
    private static let answerTimeout = Duration.seconds(3)
    /// If one node hangs, others often do too, so later nodes get less time.
    private static let laterAnswerTimeout = Duration.milliseconds(300)

    /// The latest answers, by path.
    private static let known = Mutex<[String: V4L2EncoderNode]>([:])

    /// Queries all video nodes in numerical order.
    /// - Parameter unanswered: receives `blocked` for each node whose driver does not answer, with its last known description.
    ///   A node that has never answered may be an encoder too.
    public static func all(unanswered: (HardwareEncodingError, V4L2EncoderNode?) -> Void) -> [V4L2EncoderNode] {
        var timeout = answerTimeout
        var found: [V4L2EncoderNode] = []
        for path in V4L2Device.videoNodes {
            switch Result(catching: { () throws(HardwareEncodingError) in
                try V4L2EncoderNode(at: path, timeout: timeout)
            })
            {
            case .success(let encoder):
                known.withLock { $0[path] = encoder }
                found.append(encoder)
            case .failure(.blocked(_, let duration)):
                timeout = laterAnswerTimeout
                unanswered(.blocked(path: path, duration), known.withLock { $0[path] })
            case .failure: known.withLock { $0[path] = nil }
            }
        }
        return found
    }

    /// Queries one node's driver on a separate thread. A hanging driver delays the caller by 3 s at most.
    /// - Throws: `notAnEncoder` for another kind of device, `blocked` if the driver does not answer.
    public init(at path: String) throws(HardwareEncodingError) { try self.init(at: path, timeout: Self.answerTimeout) }

    private init(at path: String, timeout: Duration) throws(HardwareEncodingError) {
        let answer: Result<V4L2EncoderNode, V4L2Error>
        do {
            answer = try NodeOccupancy.call(of: path, timeout: timeout) {
                Result { () throws(V4L2Error) in try V4L2EncoderNode(V4L2Device(at: path)) }
            }
        } catch {
            switch error {
            case .blocked(let path, let duration): throw .blocked(path: path, duration)
            case .failed(let path, let error): throw .failed(path: path, error)
            }
        }
        self = try answer.mapError { HardwareEncodingError($0, path: path) }.get()
    }

    private init(_ device: V4L2Device) throws(V4L2Error) {
        path = device.path
        name = device.name
        isMultiplanar = try device.isMultiplanarMemoryToMemory()
        let types = QueueTypes(isMultiplanar: isMultiplanar)
        guard device.formats(of: types.output).contains(FourCC(rawValue: clinux_v4l2_pix_fmt_h264)) else {
            throw .wrongKind(path: device.path, reason: "\(device.name) does not produce H.264")
        }
        formats = device.formats(of: types.input).compactMap { PixelFormat($0) }
            .filter { $0 == .nv12 || $0 == .i420 }
        guard !formats.isEmpty else {
            throw .wrongKind(path: device.path, reason: "\(device.name) accepts neither NV12 nor YU12")
        }
        (smallest, largest) = try Self.sizes(of: device)
    }

    /// A driver that lists no sizes is assumed to support level 4's frames.
    private static func sizes(of device: V4L2Device) throws(V4L2Error) -> (FrameSize, FrameSize) {
        var sizes = v4l2_frmsizeenum()
        sizes.pixel_format = clinux_v4l2_pix_fmt_h264
        let isThere = try? device.requestUnless(
            EINVAL, "VIDIOC_ENUM_FRAMESIZES", clinux_vidioc_enum_framesizes, &sizes)
        if isThere == true, sizes.type != V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
            return try Self.sizes(sizes.stepwise, of: device.name, at: device.path)
        }
        return (FrameSize(width: 32, height: 32), FrameSize(width: 1920, height: 1088))
    }

    /// - Throws: `wrongKind` if the range ends before it starts, because no frame fits then.
    static func sizes(
        _ range: v4l2_frmsize_stepwise, of name: String, at path: String
    ) throws(V4L2Error) -> (FrameSize, FrameSize) {
        let smallest = FrameSize(width: Int(range.min_width), height: Int(range.min_height))
        let largest = FrameSize(width: Int(range.max_width), height: Int(range.max_height))
        guard smallest.width <= largest.width, smallest.height <= largest.height else {
            throw .wrongKind(
                path: path, reason: "the driver \(name) reports frame sizes from \(smallest) to \(largest)")
        }
        return (smallest, largest)
    }

    func carries(_ size: FrameSize) -> Bool {
        size.width % 2 == 0 && size.height % 2 == 0 && (smallest.width...largest.width).contains(size.width)
            && (smallest.height...largest.height).contains(size.height)
    }
}
