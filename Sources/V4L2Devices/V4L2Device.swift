import CLinux
import DevicePorts
import Glibc
import LinuxIO

/// An open V4L2 device node. Any thread; the kernel serializes the calls.
final class V4L2Device: V4L2Node, Sendable {
    let path: String
    /// The product name, as reported by the driver.
    let name: String
    /// The driver's name.
    let driver: String
    /// Image processors, whose nodes look like cameras.
    private static let imageProcessors: Set = ["bcm2835-isp", "bcm2835-isp-v4l2", "pispbe"]
    /// Capabilities of this node, not of the whole device.
    let capabilities: UInt32
    private let descriptor: OwnedFileDescriptor

    /// Opens a device that captures frames into single buffers.
    convenience init(capturingAt path: String) throws(V4L2Error) {
        try self.init(at: path)
        guard capabilities & UInt32(V4L2_CAP_VIDEO_CAPTURE) != 0 else {
            throw .wrongKind(path: path, reason: "\(name) does not capture frames into single buffers")
        }
        guard capabilities & UInt32(V4L2_CAP_STREAMING) != 0 else {
            throw .wrongKind(path: path, reason: "\(name) cannot stream")
        }
    }

    /// Whether the node delivers frames without setting up another device first. False if the media controller makes the
    /// connections (V4L2_CAP_IO_MC), and for an image processor, which gets its frames from memory.
    var isCameraOfItsOwn: Bool {
        capabilities & UInt32(V4L2_CAP_IO_MC) == 0 && !Self.imageProcessors.contains(driver)
    }

    /// The machine's video nodes in numerical order.
    static var videoNodes: [String] { (0..<64).map { "/dev/video\($0)" }.filter { access($0, F_OK) == 0 } }

    /// Opens a device of any kind.
    init(at path: String) throws(V4L2Error) {
        self.path = path
        do throws(SystemCallError) {
            descriptor = try OwnedFileDescriptor(opening: path, flags: O_RDWR | O_NONBLOCK)
        } catch {
            throw V4L2Error(path, error)
        }
        var capability = v4l2_capability()
        guard ioctl(descriptor.rawValue, clinux_vidioc_querycap, &capability) == 0 else {
            throw V4L2Error(path, SystemCallError("VIDIOC_QUERYCAP"))
        }
        name = withUnsafeBytes(of: capability.card) { text($0) }
        driver = withUnsafeBytes(of: capability.driver) { text($0) }
        capabilities =
            capability.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
            ? capability.device_caps : capability.capabilities
    }

    var fileDescriptor: Int32 { descriptor.rawValue }
}

// Memory-to-memory devices.
extension V4L2Device {
    /// Whether a memory-to-memory device has the multi-planar interface.
    /// - Throws: `wrongKind` for another kind of device.
    func isMultiplanarMemoryToMemory() throws(V4L2Error) -> Bool {
        let isMultiplanar = capabilities & UInt32(V4L2_CAP_VIDEO_M2M_MPLANE) != 0
        let isSinglePlanar = capabilities & UInt32(V4L2_CAP_VIDEO_M2M) != 0
        guard isMultiplanar || isSinglePlanar, capabilities & UInt32(V4L2_CAP_STREAMING) != 0 else {
            throw .wrongKind(path: path, reason: "\(name) is not a memory-to-memory device")
        }
        return isMultiplanar
    }

    /// The formats that a queue lists, in the driver's order.
    func formats(of type: UInt32) -> [FourCC] {
        var formats: [FourCC] = []
        for index in 0..<64 {
            var description = v4l2_fmtdesc()
            description.index = UInt32(index)
            description.type = type
            let isThere = try? requestUnless(EINVAL, "VIDIOC_ENUM_FMT", clinux_vidioc_enum_fmt, &description)
            guard isThere == true else { break }
            formats.append(FourCC(rawValue: description.pixelformat))
        }
        return formats
    }
}

/// A string from a fixed-size array of a kernel structure.
func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
