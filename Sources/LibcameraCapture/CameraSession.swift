import CLibcamera
import DevicePorts
import Glibc
import LinuxIO
import Media
import Synchronization

/// What libcamera's thread leaves for the video thread.
final class CompletionQueue: Sendable {
    struct State {
        var completions: [clibcamera_completion] = []
        var isDisconnected = false
    }

    private let state = Mutex(State())
    let wakeup: EventFD

    init() throws(SystemCallError) { wakeup = try EventFD() }

    func append(_ completion: clibcamera_completion) {
        state.withLock { $0.completions.append(completion) }
        wakeup.signal()
    }

    func disconnected() {
        state.withLock { $0.isDisconnected = true }
        wakeup.signal()
    }

    /// What has come since, and nothing of it again.
    func take() -> State {
        state.withLock { state in
            let taken = state
            state.completions = []
            return taken
        }
    }
}

/// A stream of frames as it is wanted of a camera.
struct StreamWish: Sendable {
    let format: PixelFormat
    let size: FrameSize
    let bufferCount: Int
}

extension clibcamera_format {
    /// - Parameter mode: `nil` for the camera's own choice.
    init(_ wish: StreamWish, flips: FrameFlips, _ mode: SensorMode?) {
        self.init()
        fourcc = wish.format.fourCC.rawValue
        width = UInt32(wish.size.width)
        height = UInt32(wish.size.height)
        buffer_count = UInt32(wish.bufferCount)
        flips_horizontally = flips.isHorizontal
        flips_vertically = flips.isVertical
        if let mode { sensor = mode.readout }
    }
}

extension VideoColors {
    init?(_ colors: clibcamera_colors) {
        guard colors.primaries > 0 else { return nil }
        self.init(
            primaries: colors.primaries, transfer: colors.transfer, matrix: colors.matrix,
            isFullRange: colors.is_full_range)
    }
}

/// An open camera with its buffers. Every frame on lease keeps it open; the last holder closes it.
final class CameraSession: Sendable {
    /// Of each stream's frames.
    let layouts: [FrameLayout]
    /// Of all streams.
    let colors: VideoColors
    let queue: CompletionQueue
    private let system: CameraSystem
    /// The session's address, as in `CameraSystem`.
    private let handle: Mutex<UInt>
    private let buffers: [Buffer]
    private let mappedCount = Atomic(0)

    /// The descriptor is libcamera's, valid as long as the session.
    private struct Buffer: Sendable {
        let stream: Int
        let dmabuf: Int32
        let byteCount: Int
        let mapping: LazyMapping
    }

    /// - Parameter streams: the first one is selected at the start.
    init(
        _ system: CameraSystem, index: Int, name: String, streams: [StreamWish],
        flips: FrameFlips, mode: SensorMode?
    ) throws(CameraError) {
        self.system = system
        do throws(SystemCallError) {
            queue = try CompletionQueue()
        } catch {
            throw .failed(camera: name, call: error.call, number: error.number)
        }
        var formats = streams.map { clibcamera_format($0, flips: flips, mode) }
        let listener = clibcamera_listener(
            context: Unmanaged.passUnretained(queue).toOpaque(),
            completed: { context, completion in
                guard let context, let completion else { return }
                Unmanaged<CompletionQueue>.fromOpaque(context).takeUnretainedValue().append(completion.pointee)
            },
            disconnected: { context in
                guard let context else { return }
                Unmanaged<CompletionQueue>.fromOpaque(context).takeUnretainedValue().disconnected()
            })
        let (status, address) = system.open(index, &formats, listener)
        guard status >= 0, let session = OpaquePointer(bitPattern: address) else {
            throw CameraError(name, "Camera::configure", status)
        }
        do throws(CameraError) {
            var layouts: [FrameLayout] = []
            var buffers: [Buffer] = []
            for format in formats {
                let (layout, added) = try Self.describe(
                    session, format, stream: layouts.count, firstBuffer: buffers.count, name: name)
                layouts.append(layout)
                buffers += added
            }
            (self.layouts, self.buffers) = (layouts, buffers)
            colors = layouts[0].colors(reported: VideoColors(formats[0].colors))
        } catch {
            clibcamera_session_close(session)
            throw error
        }
        handle = Mutex(address)
    }

    deinit {
        handle.withLock { address in
            if let session = OpaquePointer(bitPattern: address) { clibcamera_session_close(session) }
        }
    }

    /// Where the planes are; all of them must be in one buffer.
    private static func describe(
        _ session: OpaquePointer, _ format: clibcamera_format, stream: Int, firstBuffer: Int, name: String
    ) throws(CameraError) -> (FrameLayout, [Buffer]) {
        let fourCC = FourCC(rawValue: format.fourcc)
        guard let pixelFormat = PixelFormat(fourCC), format.modifier == 0 else {
            throw .unsupportedFormat(camera: name, format: "\(fourCC)")
        }
        var planes: [clibcamera_plane] = []
        var buffers: [Buffer] = []
        for index in UInt32(firstBuffer)..<UInt32(firstBuffer) + format.buffer_count {
            planes = []
            for plane in 0..<UInt32(clamping: clibcamera_session_plane_count(session, index)) {
                var result = clibcamera_plane()
                let status = clibcamera_session_plane(session, index, plane, &result)
                guard status >= 0 else { throw CameraError(name, "FrameBuffer::planes", status) }
                planes.append(result)
            }
            guard let first = planes.first, planes.allSatisfy({ isOneFile($0.fd, first.fd) }) else {
                throw .unsupportedFormat(camera: name, format: "\(fourCC) in several buffers")
            }
            let end = planes.map { Int($0.offset) + Int($0.length) }.max() ?? 0
            buffers.append(Buffer(stream: stream, dmabuf: first.fd, byteCount: end, mapping: LazyMapping()))
        }
        let byteCount = buffers.map(\.byteCount).min() ?? 0
        let size = FrameSize(width: Int(format.width), height: Int(format.height))
        let stride = Int(format.stride)
        guard let contiguous = FrameLayout(format: pixelFormat, size: size, stride: stride, bufferSize: .max) else {
            throw .unsupportedFormat(camera: name, format: "\(fourCC) of \(size), \(stride) bytes a row")
        }
        guard planes.count == contiguous.planes.count else {
            guard contiguous.byteCount <= byteCount else {
                throw .unsupportedFormat(camera: name, format: "\(fourCC) in buffers that are too small")
            }
            return (contiguous, buffers)
        }
        let placed = zip(planes, contiguous.planes).map {
            FrameLayout.Plane(offset: Int($0.offset), stride: $1.stride)
        }
        return (FrameLayout(format: pixelFormat, size: size, planes: placed, byteCount: byteCount), buffers)
    }

    /// libcamera may give one buffer's planes descriptors of their own.
    private static func isOneFile(_ one: Int32, _ other: Int32) -> Bool {
        var status = stat()
        var otherStatus = stat()
        return one == other
            || fstat(one, &status) == 0 && fstat(other, &otherStatus) == 0 && status.st_ino == otherStatus.st_ino
    }

    var mappedFrames: Int { mappedCount.load(ordering: .relaxed) }

    /// - Parameter slowest: down to which rate exposure may lower it; `frameRate` where the rate is to hold.
    func start(frameRate: FrameRate, slowest: FrameRate) -> Int32 {
        handle.withLock { address in
            guard let session = OpaquePointer(bitPattern: address) else { return -ENODEV }
            let durations = [frameRate, slowest].map { $0.frameDuration.wholeNanoseconds / 1000 }
            return clibcamera_session_start(session, durations[0], durations[1])
        }
    }

    /// Requests go to the camera for this stream's frames from now on.
    func select(stream: Int) -> Int32 {
        handle.withLock { address in
            guard let session = OpaquePointer(bitPattern: address) else { return -ENODEV }
            return clibcamera_session_select(session, UInt32(stream))
        }
    }

    /// With the ranges that the session's size and rate leave them.
    var controls: [CameraControl] {
        handle.withLock { address in
            guard let session = OpaquePointer(bitPattern: address) else { return [] }
            return CameraControl.collect { clibcamera_session_controls(session, $0, $1) }
        }
    }

    /// Sets all of these with the next request, or none.
    func set(_ settings: [(control: CameraControl, values: [Double])]) -> Int32 {
        let numbers = settings.flatMap(\.values)
        return numbers.withUnsafeBufferPointer { numbers in
            var start = 0
            let settings = settings.map { control, values in
                defer { start += values.count }
                return clibcamera_setting(
                    id: control.id, numbers: numbers.baseAddress.map { $0 + start }, count: values.count)
            }
            return handle.withLock { address in
                guard let session = OpaquePointer(bitPattern: address) else { return -ENODEV }
                return clibcamera_session_set_controls(session, settings, settings.count)
            }
        }
    }

    /// What the camera said of itself with its newest frames.
    var report: clibcamera_report? {
        handle.withLock { address in
            var report = clibcamera_report()
            guard let session = OpaquePointer(bitPattern: address), clibcamera_session_report(session, &report) >= 0
            else { return nil }
            return report
        }
    }

    /// A camera that is gone takes nothing back, and needs nothing.
    func release(_ index: UInt32) {
        handle.withLock { address in
            if let session = OpaquePointer(bitPattern: address) { _ = clibcamera_session_requeue(session, index) }
        }
    }

    func stream(ofBuffer index: Int) -> Int { buffers[index].stream }
    func dmabuf(_ index: Int) -> Int32 { buffers[index].dmabuf }

    /// - Returns: `nil` when there is no descriptor left for it.
    func detachedBuffer(_ index: Int) -> DMABuffer? {
        try? DMABuffer(duplicating: buffers[index].dmabuf, byteCount: buffers[index].byteCount)
    }

    /// The buffer's memory, mapped when it is looked at for the first time.
    func memory(_ index: Int) throws(SystemCallError) -> MappedMemory {
        let buffer = buffers[index]
        mappedCount.add(1, ordering: .relaxed)
        return try buffer.mapping.mapped { () throws(SystemCallError) in
            try MappedMemory(buffer.dmabuf, offset: 0, byteCount: buffer.byteCount)
        }
    }

    var bufferCount: Int { buffers.count }
}

/// A filled buffer on lease. When the last holder drops it, its request goes back to the camera, once.
final class RequestLease: FrameMemory {
    private let session: CameraSession
    private let index: Int

    init(_ session: CameraSession, index: Int) {
        self.session = session
        self.index = index
    }

    deinit { session.release(UInt32(index)) }

    var dmabuf: Int32? { session.dmabuf(index) }
    func detached() -> (any FrameMemory)? { session.detachedBuffer(index).map { DetachedBuffer($0) } }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let bytes = (try? session.memory(index))?.bytes else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        DMABufferAccess.start(session.dmabuf(index))
        defer { DMABufferAccess.end(session.dmabuf(index)) }
        return try body(bytes)
    }

    func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool {
        guard let bytes = (try? session.memory(index))?.mutableBytes else { return false }
        DMABufferAccess.start(session.dmabuf(index), writes: true)
        defer { DMABufferAccess.end(session.dmabuf(index), writes: true) }
        body(bytes)
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
