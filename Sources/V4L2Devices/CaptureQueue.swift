import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media
import Synchronization

/// A camera's buffers: leased when the driver has filled them, released when nobody holds them any more.
final class CaptureQueue: Sendable {
    /// What the driver says about a filled buffer.
    struct Filled {
        let index: Int
        let byteCount: Int
        let sequence: UInt32
        /// Of CLOCK_MONOTONIC; `nil` when the driver's clock is another one.
        let stamp: MediaTimestamp?
        let isBroken: Bool
    }

    let bufferCount: Int
    private let device: V4L2Device
    private let buffers: [Buffer]
    private let mappedCount = Atomic(0)

    private struct Buffer: Sendable {
        let dmabuf: SharedDescriptor?
        let byteCount: Int
        let offset: Int
        let mapping: LazyMapping
    }

    init(_ device: V4L2Device, wantedCount: Int) throws(V4L2Error) {
        self.device = device
        var request = v4l2_requestbuffers()
        request.count = UInt32(wantedCount)
        request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        request.memory = V4L2_MEMORY_MMAP.rawValue
        try device.request("VIDIOC_REQBUFS", clinux_vidioc_reqbufs, &request)
        guard (1...64).contains(request.count) else {
            throw .failed(path: device.path, SystemCallError("VIDIOC_REQBUFS", number: ENOMEM))
        }
        bufferCount = Int(request.count)
        var buffers: [Buffer] = []
        for index in 0..<bufferCount { buffers.append(try Self.buffer(index, of: device)) }
        self.buffers = buffers
    }

    private static func buffer(_ index: Int, of device: V4L2Device) throws(V4L2Error) -> Buffer {
        var buffer = Self.description(index)
        try device.request("VIDIOC_QUERYBUF", clinux_vidioc_querybuf, &buffer)
        var export = v4l2_exportbuffer()
        export.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        export.index = UInt32(index)
        export.flags = UInt32(O_CLOEXEC | O_RDWR)
        // Drivers that cannot export serve encoders that read memory.
        let isExported = (try? device.request("VIDIOC_EXPBUF", clinux_vidioc_expbuf, &export)) != nil
        return Buffer(
            dmabuf: isExported ? SharedDescriptor(OwnedFileDescriptor(adopting: export.fd)) : nil,
            byteCount: Int(buffer.length), offset: Int(buffer.m.offset), mapping: LazyMapping())
    }

    private static func description(_ index: Int) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.index = UInt32(index)
        buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        return buffer
    }

    /// How often the processor has looked into a leased buffer so far.
    var mappedFrames: Int { mappedCount.load(ordering: .relaxed) }

    func start() throws(V4L2Error) {
        for index in 0..<bufferCount { try enqueue(index) }
        var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        try device.request("VIDIOC_STREAMON", clinux_vidioc_streamon, &type)
    }

    func enqueue(_ index: Int) throws(V4L2Error) {
        var buffer = Self.description(index)
        try device.request("VIDIOC_QBUF", clinux_vidioc_qbuf, &buffer)
    }

    /// - Returns: `nil` when no buffer is filled yet.
    func dequeue() throws(V4L2Error) -> Filled? {
        var buffer = Self.description(0)
        guard try device.requestUnless(EAGAIN, "VIDIOC_DQBUF", clinux_vidioc_dqbuf, &buffer) else { return nil }
        guard Int(buffer.index) < bufferCount else {
            throw .failed(path: device.path, SystemCallError("VIDIOC_DQBUF", number: ERANGE))
        }
        let isMonotonic =
            buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        let seconds = Int64(buffer.timestamp.tv_sec)
        let stamp = MediaTimestamp(nanoseconds: seconds &* 1_000_000_000 &+ Int64(buffer.timestamp.tv_usec) &* 1000)
        return Filled(
            index: Int(buffer.index), byteCount: min(Int(buffer.bytesused), buffers[Int(buffer.index)].byteCount),
            sequence: buffer.sequence, stamp: isMonotonic ? stamp : nil,
            isBroken: buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0)
    }

    /// Whether every buffer has a descriptor that others can read it by.
    var isExported: Bool { buffers.allSatisfy { $0.dmabuf != nil } }

    func dmabuf(_ index: Int) -> SharedDescriptor? { buffers[index].dmabuf }

    /// The buffer's memory, mapped when it is looked at for the first time.
    func memory(_ index: Int) throws(V4L2Error) -> MappedMemory {
        let buffer = buffers[index]
        mappedCount.add(1, ordering: .relaxed)
        do throws(SystemCallError) {
            return try buffer.mapping.mapped {
                () throws(SystemCallError) in
                // The device maps nothing any more once it was unplugged, the buffer's own descriptor does.
                guard let dmabuf = buffer.dmabuf else {
                    return try MappedMemory(
                        device.fileDescriptor, offset: buffer.offset, byteCount: buffer.byteCount)
                }
                return try MappedMemory(dmabuf.rawValue, offset: 0, byteCount: buffer.byteCount)
            }
        } catch {
            throw V4L2Error(device.path, error)
        }
    }
}

/// A filled buffer on lease. When the last holder drops it, the driver gets it back, once.
final class BufferLease: FrameMemory {
    private let queue: CaptureQueue
    private let index: Int
    private let byteCount: Int

    init(_ queue: CaptureQueue, index: Int, byteCount: Int) {
        self.queue = queue
        self.index = index
        self.byteCount = byteCount
    }

    // A camera that is gone takes nothing back, and needs nothing.
    deinit { try? queue.enqueue(index) }

    var dmabuf: Int32? { queue.dmabuf(index)?.rawValue }

    func detached() -> (any FrameMemory)? {
        queue.dmabuf(index).map { DetachedBuffer(DMABuffer($0, byteCount: byteCount)) }
    }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let bytes = (try? queue.memory(index))?.bytes else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        if let dmabuf { DMABufferAccess.start(dmabuf) }
        defer { if let dmabuf { DMABufferAccess.end(dmabuf) } }
        return try body(UnsafeRawBufferPointer(rebasing: bytes.prefix(byteCount)))
    }

    func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        guard let bytes = (try? queue.memory(index))?.mutableBytes else { return false }
        if let dmabuf { DMABufferAccess.start(dmabuf, writes: true) }
        defer { if let dmabuf { DMABufferAccess.end(dmabuf, writes: true) } }
        body(UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(byteCount)))
        return true
    }
}

/// A buffer's memory without its camera.
private final class DetachedBuffer: FrameMemory {
    private let buffer: DMABuffer

    init(_ buffer: DMABuffer) { self.buffer = buffer }

    var dmabuf: Int32? { buffer.fileDescriptor }
    func detached() -> (any FrameMemory)? { self }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value { try buffer.withBytes(body) }

    func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool { buffer.modify(body) }
}
