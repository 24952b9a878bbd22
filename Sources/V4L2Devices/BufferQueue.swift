import CLinux
import Glibc
import LinuxIO
import Media

/// One of the two queues of a memory-to-memory device: its buffers, who holds them, and the calls that move them.
final class BufferQueue {
    struct Dequeued {
        let index: Int
        let byteCount: Int
        let offset: Int
        let timestamp: MediaTimestamp
        let isBroken: Bool
        let isLast: Bool
    }

    private let device: V4L2Device
    private let type: UInt32
    private let memory: BufferMemory
    private let isMultiplanar: Bool
    /// For memory of the driver's own.
    private(set) var mappings: [WritableMapping] = []
    /// For exported memory.
    private(set) var descriptors: [SharedDescriptor] = []
    private(set) var bufferCount = 0
    /// Buffers that the driver does not hold. They come back only through `dequeue`.
    private(set) var free: Set<Int> = []
    /// What the driver reads and fills during one call.
    private let planes = UnsafeMutablePointer<v4l2_plane>.allocate(capacity: Int(VIDEO_MAX_PLANES))

    init(
        _ device: V4L2Device, type: UInt32, memory: BufferMemory, isMultiplanar: Bool, wantedCount: Int
    ) throws(V4L2Error) {
        self.device = device
        self.type = type
        self.memory = memory
        self.isMultiplanar = isMultiplanar
        bufferCount = try requestBuffers(wantedCount)
        guard (1...BufferNumbers.limit).contains(bufferCount) else {
            throw .failed(path: device.path, SystemCallError("VIDIOC_REQBUFS", number: ENOMEM))
        }
        free = Set(0..<bufferCount)
        for index in 0..<bufferCount {
            switch memory {
            case .driver: mappings.append(try map(index))
            case .exported: descriptors.append(try export(index))
            case .imported: break
            }
        }
    }

    deinit { planes.deallocate() }

    private func requestBuffers(_ count: Int) throws(V4L2Error) -> Int {
        var request = v4l2_requestbuffers()
        request.count = UInt32(count)
        request.type = type
        request.memory = memory.number
        try device.request("VIDIOC_REQBUFS", clinux_vidioc_reqbufs, &request)
        return Int(request.count)
    }

    private func map(_ index: Int) throws(V4L2Error) -> WritableMapping {
        let (offset, length) = try withBuffer(index) { (buffer, plane) throws(V4L2Error) in
            try device.request("VIDIOC_QUERYBUF", clinux_vidioc_querybuf, &buffer)
            return isMultiplanar
                ? (Int(plane.pointee.m.mem_offset), Int(plane.pointee.length))
                : (Int(buffer.m.offset), Int(buffer.length))
        }
        do throws(SystemCallError) {
            return try WritableMapping(device.fileDescriptor, offset: offset, byteCount: length)
        } catch {
            throw V4L2Error(device.path, error)
        }
    }

    private func export(_ index: Int) throws(V4L2Error) -> SharedDescriptor {
        var export = v4l2_exportbuffer()
        export.type = type
        export.index = UInt32(index)
        export.flags = UInt32(O_CLOEXEC | O_RDWR)
        try device.request("VIDIOC_EXPBUF", clinux_vidioc_expbuf, &export)
        return SharedDescriptor(OwnedFileDescriptor(adopting: export.fd))
    }

    /// Passes a buffer's description to the body, in the driver's form of the interface and with room for one plane.
    private func withBuffer<Value>(
        _ index: Int, _ body: (inout v4l2_buffer, UnsafeMutablePointer<v4l2_plane>) throws(V4L2Error) -> Value
    ) throws(V4L2Error) -> Value {
        planes.initialize(repeating: v4l2_plane(), count: Int(VIDEO_MAX_PLANES))
        var buffer = v4l2_buffer()
        buffer.index = UInt32(index)
        buffer.type = type
        buffer.memory = memory.number
        buffer.field = V4L2_FIELD_NONE.rawValue
        if isMultiplanar {
            buffer.m.planes = planes
            buffer.length = UInt32(VIDEO_MAX_PLANES)
        }
        return try body(&buffer, planes)
    }

    func start() throws(V4L2Error) {
        var type = type
        try device.request("VIDIOC_STREAMON", clinux_vidioc_streamon, &type)
    }

    /// Takes all buffers back from the driver and frees them.
    func stop() {
        var type = type
        try? device.request("VIDIOC_STREAMOFF", clinux_vidioc_streamoff, &type)
        mappings = []
        descriptors = []
        _ = try? requestBuffers(0)
        free = []
    }

    /// - Parameters:
    ///   - dmabuf: the frame's descriptor; `nil` for the queue's own memory.
    ///   - length: bytes of the descriptor's memory that are used.
    func enqueue(
        _ index: Int, byteCount: Int = 0, timestamp: MediaTimestamp = .zero, dmabuf: Int32? = nil, length: Int = 0
    ) throws(V4L2Error) {
        try withBuffer(index) { (buffer, plane) throws(V4L2Error) in
            // Drivers pass on whole microseconds.
            let microseconds = timestamp.nanoseconds / 1000
            buffer.timestamp = timeval(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
            buffer.flags = UInt32(V4L2_BUF_FLAG_TIMESTAMP_COPY)
            if isMultiplanar {
                plane.pointee.bytesused = UInt32(byteCount)
                if let dmabuf {
                    plane.pointee.m.fd = dmabuf
                    plane.pointee.length = UInt32(length)
                }
                buffer.length = 1
            } else {
                buffer.bytesused = UInt32(byteCount)
                if let dmabuf {
                    buffer.m.fd = dmabuf
                    buffer.length = UInt32(length)
                }
            }
            try device.request("VIDIOC_QBUF", clinux_vidioc_qbuf, &buffer)
        }
        free.remove(index)
    }

    /// - Returns: `nil` if no buffer is ready, or if none follows after LAST.
    func dequeue() throws(V4L2Error) -> Dequeued? {
        let dequeued = try withBuffer(0) { (buffer, plane) throws(V4L2Error) -> Dequeued? in
            do throws(V4L2Error) {
                guard try device.requestUnless(EAGAIN, "VIDIOC_DQBUF", clinux_vidioc_dqbuf, &buffer) else { return nil }
            } catch {
                if case .failed(_, let reason) = error, reason.number == EPIPE { return nil }
                throw error
            }
            let microseconds = Int64(buffer.timestamp.tv_sec) &* 1_000_000 &+ Int64(buffer.timestamp.tv_usec)
            return Dequeued(
                index: Int(buffer.index), byteCount: Int(isMultiplanar ? plane.pointee.bytesused : buffer.bytesused),
                offset: isMultiplanar ? Int(plane.pointee.data_offset) : 0,
                timestamp: MediaTimestamp(nanoseconds: microseconds &* 1000),
                isBroken: buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0,
                isLast: buffer.flags & UInt32(V4L2_BUF_FLAG_LAST) != 0)
        }
        guard let dequeued else { return nil }
        guard (0..<bufferCount).contains(dequeued.index) else {
            throw .failed(path: device.path, SystemCallError("VIDIOC_DQBUF", number: ERANGE))
        }
        free.insert(dequeued.index)
        return dequeued
    }

    /// The bytes of a dequeued buffer; valid until it is enqueued again.
    func bytes(of dequeued: Dequeued) -> UnsafeRawBufferPointer {
        let memory = UnsafeRawBufferPointer(mappings[dequeued.index].bytes)
        let start = min(dequeued.offset, memory.count)
        return UnsafeRawBufferPointer(rebasing: memory[start..<min(max(start, dequeued.byteCount), memory.count)])
    }

    /// Whether the driver has filled the buffer completely, so that the rest follows in the next one.
    func isFull(_ dequeued: Dequeued) -> Bool { dequeued.byteCount >= mappings[dequeued.index].bytes.count }
}

/// The provider of a queue's memory.
enum BufferMemory {
    /// The driver, for mapping.
    case driver
    /// The driver, for other devices: each buffer has a descriptor.
    case exported
    /// Another device, as DMABUFs.
    case imported

    /// For v4l2_requestbuffers and v4l2_buffer.
    var number: UInt32 {
        switch self {
        case .driver, .exported: V4L2_MEMORY_MMAP.rawValue
        case .imported: V4L2_MEMORY_DMABUF.rawValue
        }
    }
}
