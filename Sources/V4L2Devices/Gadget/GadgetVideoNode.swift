import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media
import USBVideo

/// The video node of the kernel's UVC function (f_uvc, Documentation/usb/gadget_uvc.rst). The gadget stays connected while this
/// is open.
public final class GadgetVideoNode {
    /// One on the bus, one queued, and two for a computer that reads late.
    private static let bufferCount = 4

    private let device: V4L2Device
    private var queue: BufferQueue?

    /// Opens the node of the bound gadget.
    /// - Throws: `missing` if the kernel has created none.
    public convenience init() throws(V4L2Error) {
        for path in V4L2Device.videoNodes where Self.isGadget(path) {
            try self.init(try V4L2Device(at: path))
            return
        }
        throw .missing(path: "/dev/video*")
    }

    /// Checked without opening the node, since another node's driver may hang. Only f_uvc has this file.
    private static func isGadget(_ path: String) -> Bool {
        access("/sys/class/video4linux/\(path.dropFirst("/dev/".count))/function_name", F_OK) == 0
    }

    private init(_ device: V4L2Device) throws(V4L2Error) {
        self.device = device
        let events = [
            clinux_uvc_event_connect, clinux_uvc_event_disconnect, clinux_uvc_event_stream_on,
            clinux_uvc_event_stream_off, clinux_uvc_event_data,
            // Subscribe to this one last, because the kernel then connects the gadget.
            clinux_uvc_event_setup,
        ]
        for event in events {
            var subscription = v4l2_event_subscription()
            subscription.type = event
            try device.request("VIDIOC_SUBSCRIBE_EVENT", clinux_vidioc_subscribe_event, &subscription)
        }
    }

    public var fileDescriptor: Int32 { device.fileDescriptor }

    public func nextEvent() throws -> VideoFunction.Event? {
        var event = v4l2_event()
        guard try device.requestUnless(ENOENT, "VIDIOC_DQEVENT", clinux_vidioc_dqevent, &event) else { return nil }
        return withUnsafeBytes(of: event.u) { VideoFunction.Event(type: event.type, data: $0) }
    }

    public func answer(_ answer: ControlAnswer) throws {
        var response = uvc_request_data()
        switch answer {
        case .stall: response.length = -EL2HLT
        case .receive(let count): response.length = Int32(clamping: count)
        case .send(let bytes):
            let count = withUnsafeMutableBytes(of: &response.data) { data in
                data.copyBytes(from: bytes.prefix(data.count))
                return min(bytes.count, data.count)
            }
            response.length = Int32(clamping: count)
        }
        // If the computer has sent another request meanwhile, the answer to the last one is refused.
        _ = try device.requestUnless(EINVAL, "UVCIOC_SEND_RESPONSE", clinux_uvcioc_send_response, &response)
    }

    public func start(_ choice: VideoChoice) throws {
        queue = nil
        var format = v4l2_format()
        format.type = V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
        format.fmt.pix.width = UInt32(clamping: choice.mode.size.width)
        format.fmt.pix.height = UInt32(clamping: choice.mode.size.height)
        format.fmt.pix.pixelformat = choice.mode.coding.v4l2FourCC.rawValue
        format.fmt.pix.sizeimage = UInt32(clamping: choice.mode.largestFrame)
        format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        try device.request("VIDIOC_S_FMT", clinux_vidioc_s_fmt, &format)
        let queue = try BufferQueue(
            device, type: V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue, memory: .driver, isMultiplanar: false,
            wantedCount: Self.bufferCount)
        self.queue = queue
        // The computer waits for this: it starts to request packets now.
        try queue.start()
    }

    /// Acknowledges the end that the computer requested. The kernel waits for that in any case.
    public func stop() {
        guard queue == nil else {
            queue?.stop()
            queue = nil
            return
        }
        var type = V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
        try? device.request("VIDIOC_STREAMOFF", clinux_vidioc_streamoff, &type)
    }

    public func hasRoom() throws -> Bool {
        guard let queue else { return false }
        while try queue.dequeue() != nil {}
        return !queue.free.isEmpty
    }

    public func send(_ fill: (UnsafeMutableRawBufferPointer) -> Int) throws -> Bool {
        guard try hasRoom(), let queue else { return false }
        guard let index = queue.free.min(), queue.mappings.indices.contains(index) else { return false }
        let memory = queue.mappings[index].bytes
        let count = min(fill(memory), memory.count)
        guard count > 0 else { return false }
        try queue.enqueue(index, byteCount: count, timestamp: MonotonicClock.now())
        return true
    }
}

extension VideoCoding {
    fileprivate var v4l2FourCC: FourCC {
        switch self {
        case .mjpeg: FourCC("MJPG")
        case .nv12: FourCC("NV12")
        case .yuyv: FourCC("YUYV")
        }
    }
}

extension VideoFunction.Event {
    /// - Returns: `nil` for an event of another type.
    fileprivate init?(type: UInt32, data: UnsafeRawBufferPointer) {
        switch type {
        case clinux_uvc_event_connect: self = .connected(USBSpeed(kernel: data.loadUnaligned(as: UInt32.self)))
        case clinux_uvc_event_disconnect: self = .disconnected
        case clinux_uvc_event_stream_on: self = .streamOn
        case clinux_uvc_event_stream_off: self = .streamOff
        case clinux_uvc_event_setup:
            let request = data.loadUnaligned(as: usb_ctrlrequest.self)
            self = .setup(
                SetupPacket(
                    requestType: request.bRequestType, request: request.bRequest,
                    value: UInt16(littleEndian: request.wValue), index: UInt16(littleEndian: request.wIndex),
                    length: UInt16(littleEndian: request.wLength)))
        case clinux_uvc_event_data:
            let length = Int(data.loadUnaligned(as: Int32.self))
            self = .data([UInt8](data.dropFirst(4).prefix(min(max(0, length), 60))))
        default: return nil
        }
    }
}

extension USBSpeed {
    /// The kernel's `enum usb_device_speed` (linux/usb/ch9.h).
    fileprivate init(kernel number: UInt32) {
        let speeds: [USBSpeed] = [.unknown, .low, .full, .high, .wireless, .super, .superPlus]
        self = Int(number) < speeds.count ? speeds[Int(number)] : .unknown
    }
}
