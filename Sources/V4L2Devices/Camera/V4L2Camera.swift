import CLinux
import CV4LConvert
import DevicePorts
import Glibc
import LinuxIO
import Media

/// An open V4L2 camera. Frames are the driver's buffers on lease, if the format allows that.
public final class V4L2Camera: Camera {
    public let layout: FrameLayout
    public var memoryKind: FrameMemoryKind { decoder == nil && queue.isExported ? .dmabuf : .pooled }
    public let frameRate: FrameRate
    public let colors: VideoColors?
    public let flips: FrameFlips
    public var name: String { "\(device.name) (\(device.path))" }
    public var model: String { device.name }

    let device: V4L2Device
    /// `nil` if the lens belongs to the camera's own node, or there is none.
    let lens: V4L2Lens?
    var mapping: V4L2ControlMapping
    private let queue: CaptureQueue
    private let decoder: WebcamDecoder?
    private let stop: EventFD
    /// For decoded frames.
    private var pool: FramePool
    private var isStarted = false
    private var order = CaptureOrder()
    private var counted = VideoSourceStatistics()

    /// Number of consecutive frames that could not be decoded.
    private var undecodedFrames = 0
    /// More consecutive damage than this is not a bad cable: the camera does not send the promised format.
    private static let longestDamage = 60

    /// One is being filled, one waits, one is kept for repeating, and the others are with the encoder.
    private static let bufferCount = 6
    /// For stills: two with the driver and one in use.
    private static let stillBufferCount = 3

    /// Opens a camera, its format and its buffers on a separate thread. A hanging driver delays the caller by 3 s at most, and
    /// later attempts at the same node fail at once.
    /// - Parameters:
    ///   - size, frameRate: the stream's, used if the settings name none.
    ///   - stop: ends the wait when signaled. It is not drained.
    public static func open(
        _ settings: CameraSettings, size: FrameSize, frameRate: FrameRate, stop: EventFD
    ) throws(V4L2Error) -> sending V4L2Camera {
        try V4L2Error.bounded(settings.device) {
            Result { () throws(V4L2Error) in
                try V4L2Camera(settings, size: size, frameRate: frameRate, stop: stop)
            }
        }
    }

    private init(
        _ settings: CameraSettings, size: FrameSize, frameRate: FrameRate, stop: EventFD
    ) throws(V4L2Error) {
        let device = try V4L2Device(capturingAt: settings.device)
        let wantedSize = settings.size ?? size
        let wantedRate = settings.frameRate ?? frameRate
        let mode = try Self.mode(of: device, settings, size: wantedSize, frameRate: wantedRate)
        let format = try device.setFormat(mode)
        self.frameRate = try device.setFrameRate(wantedRate) ?? wantedRate
        device.setExposure(settings)
        try device.set(settings.controls)
        self.device = device
        self.stop = stop
        let pixels = format.fmt.pix
        let pixelSize = FrameSize(width: Int(pixels.width), height: Int(pixels.height))
        if let pixelFormat = PixelFormat(v4l2: FourCC(rawValue: pixels.pixelformat)) {
            guard
                let layout = FrameLayout(
                    format: pixelFormat, size: pixelSize, stride: Int(pixels.bytesperline),
                    bufferSize: Int(pixels.sizeimage))
            else { throw .failed(path: device.path, SystemCallError("VIDIOC_S_FMT", number: ERANGE)) }
            self.layout = layout
            decoder = nil
            colors = layout.colors(reported: VideoColors(pixels))
        } else {
            let decoder = try WebcamDecoder(
                path: device.path, source: format, converter: v4lconvert_create(device.fileDescriptor))
            layout = decoder.layout
            self.decoder = decoder
            // A JPEG's content is decoded without color conversion; for other formats the colors are unknown.
            let isJPEG = [FourCC("MJPG"), FourCC("JPEG")].contains(FourCC(rawValue: pixels.pixelformat))
            colors = layout.colors(reported: isJPEG ? .jpeg : nil)
        }
        let offered = device.controls()
        flips = device.flip(settings.flips, beside: settings.controls, offered)
        lens = offered.contains { $0.id == clinux_v4l2_cid_focus_absolute } ? nil : V4L2Lens(of: device)
        mapping = V4L2ControlMapping(
            device, offered, lens: lens, crop: device.crop(frame: layout.size), flips: flips)
        pool = FramePool(byteCount: layout.byteCount)
        queue = try CaptureQueue(device, wantedCount: settings.isForStills ? Self.stillBufferCount : Self.bufferCount)
    }

    /// The driver keeps its flips for the next program that opens the camera, so undo them.
    deinit {
        let isFlipped = flips != FrameFlips() || mapping.wished[.mirror] != nil || mapping.wished[.flip] != nil
        if isFlipped { _ = device.setFlips(FrameFlips(), device.controls()) }
    }

    private static func mode(
        of device: V4L2Device, _ settings: CameraSettings, size: FrameSize, frameRate: FrameRate
    ) throws(V4L2Error) -> V4L2Mode {
        let modes = try device.modes(near: size)
        let usable =
            [PixelFormat.nv12, .i420, .yuyv, .uyvy, .bgr888, .rgb888].map(\.v4l2FourCC) + WebcamDecoder.formats
        let ranking = settings.format.map { [$0] } ?? usable
        let offered = Set(modes.map { "\($0.format)" }).sorted().joined(separator: ", ")
        guard let mode = modes.best(size: size, frameRate: frameRate, ranking: ranking) else {
            let asked = settings.format.map { "format \($0)" } ?? "format that can be used"
            throw .noUsableFormat(path: device.path, asked: asked, offered: offered)
        }
        return mode
    }

    public var statistics: VideoSourceStatistics {
        var statistics = counted
        statistics.mappedFrames = queue.mappedFrames
        return statistics
    }

    private enum Waited {
        case stop, device, buffers
    }
    private var waits = PollSet<Waited>()

    public func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        if !isStarted {
            try queue.start()
            isStarted = true
        }
        while true {
            let isShort = try queue.takeBack()
            waits.removeAll()
            waits.add(.stop, stop.fileDescriptor)
            waits.add(.device, device.fileDescriptor)
            if isShort { waits.add(.buffers, queue.wakeup.fileDescriptor) }
            guard try waits.wait(until: deadline) else { return .none }
            if waits.isReady(.stop) { return .stopped }
            // An unplugged camera reports an error on every call.
            if !waits.ready(.device).isDisjoint(with: [.error, .hangUp]) { throw V4L2Error.gone(path: device.path) }
            if waits.isReady(.buffers) { queue.wakeup.drain() }
            guard let filled = try queue.dequeue() else { continue }
            if let frame = try frame(filled) { return .captured(frame) }
        }
    }

    private func frame(_ filled: CaptureQueue.Filled) throws(V4L2Error) -> CapturedFrame? {
        counted.droppedFrames += order.missed(before: filled.sequence)
        guard !filled.isBroken, decoder != nil || filled.byteCount >= layout.byteCount else {
            counted.droppedFrames += 1
            return nil
        }
        let time = order.captureTime(filled.stamp, now: MonotonicClock.now())
        guard let decoder else {
            counted.capturedFrames += 1
            return CapturedFrame(layout: layout, captureTime: time, memory: filled.memory)
        }
        let target = pool.take()
        switch decode(filled.memory, decoder, into: target) {
        case .success:
            undecodedFrames = 0
            counted.capturedFrames += 1
            counted.decodedFrames += 1
            counted.passes += 1
            return CapturedFrame(layout: layout, captureTime: time, memory: target)
        case .failure(let error):
            // One frame was damaged in transfer; later frames are not affected.
            counted.droppedFrames += 1
            undecodedFrames += 1
            guard undecodedFrames < Self.longestDamage else { throw error }
            return nil
        }
    }

    private func decode(
        _ memory: LeasedBuffer, _ decoder: WebcamDecoder, into target: PooledFrame
    ) -> Result<Void, V4L2Error> {
        memory.withBytes { bytes in
            target.withMutableBytes { target in
                Result { () throws(V4L2Error) in try decoder.decode(bytes, into: target) }
            }
        }
    }
}
