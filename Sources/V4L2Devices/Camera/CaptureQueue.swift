import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// A camera's buffers. The driver fills them, frames lease them, and the camera's thread returns them to the driver when their
/// last holder drops them. Used on that thread.
final class CaptureQueue {
    /// What the driver reports about a filled buffer.
    struct Filled {
        let memory: LeasedBuffer
        let byteCount: Int
        let sequence: UInt32
        /// On CLOCK_MONOTONIC; `nil` if the driver uses another clock.
        let stamp: MediaTimestamp?
        let isBroken: Bool
    }

    private let device: V4L2Device
    private let buffers: [(memory: any FrameMemory, byteCount: Int)]
    private let all: BufferNumbers
    private var leased: LeasedBuffers
    /// Readable when a buffer that `takeBack` waits for has come back.
    let wakeup: EventFD

    init(_ device: V4L2Device, wantedCount: Int) throws(V4L2Error) {
        self.device = device
        do throws(SystemCallError) {
            wakeup = try EventFD()
        } catch {
            throw V4L2Error(device.path, error)
        }
        leased = LeasedBuffers(wakeup: wakeup)
        var request = v4l2_requestbuffers()
        request.count = UInt32(wantedCount)
        request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        request.memory = V4L2_MEMORY_MMAP.rawValue
        try device.request("VIDIOC_REQBUFS", clinux_vidioc_reqbufs, &request)
        guard (1...BufferNumbers.limit).contains(Int(request.count)) else {
            throw .failed(path: device.path, SystemCallError("VIDIOC_REQBUFS", number: ENOMEM))
        }
        all = BufferNumbers(0..<Int(request.count))
        var buffers: [(memory: any FrameMemory, byteCount: Int)] = []
        for index in all { buffers.append(try Self.buffer(index, of: device)) }
        self.buffers = buffers
    }

    private static func buffer(
        _ index: Int, of device: V4L2Device
    ) throws(V4L2Error) -> (memory: any FrameMemory, byteCount: Int) {
        var buffer = Self.description(index)
        try device.request("VIDIOC_QUERYBUF", clinux_vidioc_querybuf, &buffer)
        var export = v4l2_exportbuffer()
        export.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        export.index = UInt32(index)
        export.flags = UInt32(O_CLOEXEC | O_RDWR)
        let byteCount = Int(buffer.length)
        // A driver that cannot export still serves encoders that read memory.
        guard (try? device.request("VIDIOC_EXPBUF", clinux_vidioc_expbuf, &export)) != nil else {
            return (DeviceMemory(device, offset: Int(buffer.m.offset), byteCount: byteCount), byteCount)
        }
        let descriptor = SharedDescriptor(OwnedFileDescriptor(adopting: export.fd))
        return (DMABuffer(descriptor, byteCount: byteCount), byteCount)
    }

    private static func description(_ index: Int) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.index = UInt32(index)
        buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        return buffer
    }

    /// How often the CPU has mapped a leased buffer so far.
    var mappedFrames: Int { leased.mappedCount }

    /// Whether every buffer has a descriptor through which other devices can read it.
    var isExported: Bool { buffers.allSatisfy { $0.memory.dmabuf != nil } }

    func start() throws(V4L2Error) {
        for index in all { try enqueue(index) }
        var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        try device.request("VIDIOC_STREAMON", clinux_vidioc_streamon, &type)
    }

    private func enqueue(_ index: Int) throws(V4L2Error) {
        var buffer = Self.description(index)
        try device.request("VIDIOC_QBUF", clinux_vidioc_qbuf, &buffer)
    }

    /// Returns to the driver the buffers that nobody holds any longer.
    /// - Returns: whether the caller should wait for `wakeup` too, because the driver has few buffers or none.
    func takeBack() throws(V4L2Error) -> Bool {
        try leased.takeBack(of: all) { index throws(V4L2Error) in try enqueue(index) }
    }

    /// - Returns: `nil` if no buffer is filled yet.
    func dequeue() throws(V4L2Error) -> Filled? {
        var buffer = Self.description(0)
        guard try device.requestUnless(EAGAIN, "VIDIOC_DQBUF", clinux_vidioc_dqbuf, &buffer) else { return nil }
        let index = Int(buffer.index)
        guard index < buffers.count else {
            throw .failed(path: device.path, SystemCallError("VIDIOC_DQBUF", number: ERANGE))
        }
        let byteCount = min(Int(buffer.bytesused), buffers[index].byteCount)
        let isMonotonic =
            buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        let seconds = Int64(buffer.timestamp.tv_sec)
        let stamp = MediaTimestamp(nanoseconds: seconds &* 1_000_000_000 &+ Int64(buffer.timestamp.tv_usec) &* 1000)
        return Filled(
            memory: leased.lease(buffers[index].memory, index: index, byteCount: byteCount), byteCount: byteCount,
            sequence: buffer.sequence, stamp: isMonotonic ? stamp : nil,
            isBroken: buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0)
    }
}

/// A buffer of a driver that cannot export, mapped on first access. It keeps the device open and dies with it.
private final class DeviceMemory: FrameMemory {
    private let device: V4L2Device
    private let offset: Int
    private let byteCount: Int
    private let mapping = LazyMapping()

    init(_ device: V4L2Device, offset: Int, byteCount: Int) {
        self.device = device
        self.offset = offset
        self.byteCount = byteCount
    }

    private var mapped: MappedMemory? {
        try? mapping.mapped { () throws(SystemCallError) in
            try MappedMemory(device.fileDescriptor, offset: offset, byteCount: byteCount)
        }
    }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try body(mapped?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0))
    }

    func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        guard let bytes = mapped?.mutableBytes else { return false }
        body(bytes)
        return true
    }
}
