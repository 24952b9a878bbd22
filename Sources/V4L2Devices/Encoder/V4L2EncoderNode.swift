import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media
import Synchronization

/// An H.264 encoder of this machine, known by what it can do: any stateful V4L2 memory-to-memory device that takes
/// raw frames and gives H.264, in the single-planar or the multi-planar form of the interface.
public struct V4L2EncoderNode: Hashable, Sendable {
    public let path: String
    /// As the driver says it.
    public let name: String
    let isMultiplanar: Bool
    /// Raw formats that it takes, in the driver's order.
    let formats: [PixelFormat]
    let smallest: FrameSize
    let largest: FrameSize

    /// So long a driver may take to say what it is.
    private static let answerTimeout = Duration.seconds(3)
    /// What hangs often hangs at several nodes: after the first the others get less.
    private static let laterAnswerTimeout = Duration.milliseconds(300)

    /// What nodes have said when they answered last.
    private static let known = Mutex<[String: V4L2EncoderNode]>([:])

    /// Looks at every video node, in the order of their numbers.
    /// - Parameter unanswered: takes the `blocked` of each node whose driver does not answer, and what it was when it
    ///   did; a node that never has may be an encoder, too.
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

    /// Asks the driver of one node, on a thread of its own: a driver that hangs keeps the caller for 3 s at the most.
    /// - Throws: `notAnEncoder` when it is something else, `blocked` when it does not answer.
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
            throw .wrongKind(path: device.path, reason: "\(device.name) gives no H.264")
        }
        formats = device.formats(of: types.input).compactMap { PixelFormat($0) }
            .filter { $0 == .nv12 || $0 == .i420 }
        guard !formats.isEmpty else {
            throw .wrongKind(path: device.path, reason: "\(device.name) takes neither NV12 nor YU12")
        }
        (smallest, largest) = try Self.sizes(of: device)
    }

    /// A driver that does not say is believed to carry level 4's frames.
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

    /// - Throws: `wrongKind` for a range that ends before it starts: no frame has such a size.
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
