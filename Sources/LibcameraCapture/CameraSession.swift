import CLibcamera
import DevicePorts
import Glibc
import LinuxIO
import Media

/// An open camera with its buffers. Leased frames do not keep it open. Used on the camera's thread.
final class CameraSession {
    /// One layout per stream.
    let layouts: [FrameLayout]
    /// Common to all streams.
    let colors: VideoColors
    let queue: CompletionQueue
    private let system: CameraSystem
    private let session: OpaquePointer
    private let buffers: [Buffer]
    /// One set per stream.
    private let numbers: [BufferNumbers]
    private var leased: LeasedBuffers
    /// The stream whose buffers are sent to the camera.
    private var selected = 0

    private struct Buffer {
        let stream: Int
        /// Has its own descriptor, because libcamera's ends with the session.
        let memory: DMABuffer
        let byteCount: Int
    }

    /// - Parameter streams: the first one is selected initially.
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
        leased = LeasedBuffers(wakeup: queue.wakeup)
        var formats = streams.map { clibcamera_format($0, flips: flips, mode) }
        let (status, address) = system.open(index, &formats, queue.listener)
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
            guard buffers.count <= BufferNumbers.limit else {
                throw .failed(camera: name, call: "FrameBufferAllocator::allocate", number: E2BIG)
            }
            (self.layouts, self.buffers) = (layouts, buffers)
            numbers = layouts.indices.map { stream in
                BufferNumbers(buffers.indices.filter { buffers[$0].stream == stream })
            }
            colors = layouts[0].colors(reported: VideoColors(formats[0].colors))
        } catch {
            clibcamera_session_close(session)
            throw error
        }
        self.session = session
    }

    deinit { clibcamera_session_close(session) }

    /// Finds the planes' positions. All of them must be in one buffer.
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
            buffers.append(Buffer(stream: stream, memory: try memory(first.fd, end, name), byteCount: end))
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

    /// libcamera may give the planes of one buffer separate descriptors.
    private static func isOneFile(_ one: Int32, _ other: Int32) -> Bool {
        var status = stat()
        var otherStatus = stat()
        return one == other
            || fstat(one, &status) == 0 && fstat(other, &otherStatus) == 0 && status.st_ino == otherStatus.st_ino
    }

    private static func memory(
        _ descriptor: Int32, _ byteCount: Int, _ name: String
    ) throws(CameraError) -> DMABuffer {
        do throws(SystemCallError) {
            return try DMABuffer(duplicating: descriptor, byteCount: byteCount)
        } catch {
            throw .failed(camera: name, call: error.call, number: error.number)
        }
    }

    var mappedFrames: Int { leased.mappedCount }

    /// - Parameter slowest: the lowest rate that exposure may cause; equal to `frameRate` if the rate must hold.
    func start(frameRate: FrameRate, slowest: FrameRate) -> Int32 {
        let durations = [frameRate, slowest].map { $0.frameDuration.wholeNanoseconds / 1000 }
        return clibcamera_session_start(session, durations[0], durations[1])
    }

    /// From now on, only this stream's buffers are sent to the camera.
    func select(stream: Int) {
        selected = stream
        // If the camera is gone, the wait for its next frame reports that.
        _ = clibcamera_session_select(session, UInt32(stream))
    }

    /// The controls, with the ranges that the session's size and rate allow.
    var controls: [CameraControl] { CameraControl.collect { clibcamera_session_controls(session, $0, $1) } }

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
            return clibcamera_session_set_controls(session, settings, settings.count)
        }
    }

    /// The state that the camera reported with its newest frames.
    var report: clibcamera_report? {
        var report = clibcamera_report()
        return clibcamera_session_report(session, &report) >= 0 ? report : nil
    }

    func stream(ofBuffer index: Int) -> Int { buffers[index].stream }

    var bufferCount: Int { buffers.count }

    /// Leases the memory of a completed request. `takeBack` returns it to the camera after the last holder drops it.
    func lease(_ index: Int) -> LeasedBuffer { leased.lease(buffers[index].memory, index: index) }

    /// Returns to the camera the requests whose frames nobody holds any longer. If the camera has few or none left, the next
    /// returned buffer signals the queue's wake-up.
    func takeBack() {
        // If the camera is gone, the wait for its next frame reports that.
        leased.takeBack(of: numbers[selected]) { _ = clibcamera_session_requeue(session, UInt32($0)) }
    }
}
