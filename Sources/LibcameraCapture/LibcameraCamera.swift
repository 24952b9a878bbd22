import CLibcamera
import DevicePorts
import Glibc
import LinuxIO
import Media

/// A camera of libcamera's that is open. Frames are leased as DMABUF.
public final class LibcameraCamera: Camera {
    public let name: String
    public let model: String
    /// Libcamera's, by which this very camera can be opened again.
    public let id: String
    public let frameRate: FrameRate
    public var layout: FrameLayout { layouts.full }
    public let layouts: SourceLayouts
    public let memoryKind = FrameMemoryKind.dmabuf
    public let flips: FrameFlips
    public var colors: VideoColors? { session.colors }

    let session: CameraSession
    var mapping: ControlMapping
    /// Down to which exposure may lower the rate.
    private let slowestRate: FrameRate
    /// `nil` where the camera has none, or the settings say how many frames there are to be.
    private let durationLimits: CameraControl?
    private let stop: EventFD
    private var isStarted = false
    private var waiting: [clibcamera_completion] = []
    private var order = CaptureOrder()
    private var startup = CameraStartup()
    /// Of the newest frame: each stream may have numbers of its own.
    private var lastStream = 0
    private var counted = VideoSourceStatistics()

    static let durationLimitsName = "FrameDurationLimits"

    /// Some are with the camera, one is kept to be repeated, and the rest are with the encoder.
    private static let bufferCount = 6
    /// Of stills: two with the camera, one that is looked at.
    private static let stillBufferCount = 3
    /// Of the smaller frames: two with the camera, one that is kept, two with the encoder, which takes less time for them, and
    /// two with a computer: one that is read, and the next.
    private static let smallerBufferCount = 7

    /// - Parameters:
    ///   - settings: `device` is an id, `front`, `back` or `external`, or empty for the first camera.
    ///   - size, frameRate: of the stream, for what the settings leave open.
    ///   - smallerSize: of a second stream, for cameras that give two.
    ///   - stop: once signalled, waiting ends. It is not drained.
    public init(
        _ settings: CameraSettings, size: FrameSize, smallerSize: FrameSize? = nil, frameRate: FrameRate, stop: EventFD
    ) throws(CameraError) {
        let (system, cameras) = try Self.cameras(for: settings)
        let index = try Self.choose(settings.device, among: cameras)
        let camera = cameras[index]
        let name = camera.model.isEmpty ? camera.id : "\(camera.model) (\(camera.id))"
        self.name = name
        model = camera.model
        id = camera.id
        self.stop = stop
        let asked = try Self.flips(settings.controls, of: camera, name)
        flips = Self.offers(settings.flips, camera) ? settings.flips : FrameFlips()
        let orientation = FrameFlips(
            isHorizontal: asked.isHorizontal != flips.isHorizontal, isVertical: asked.isVertical != flips.isVertical)
        let format = try Self.format(settings, of: camera)
        let largest = settings.size ?? (settings.isForStills ? Self.atMost(size, format, of: camera) : size)
        let full = StreamWish(
            format: format, size: largest, bufferCount: settings.isForStills ? Self.stillBufferCount : Self.bufferCount)
        // Both show the same part of the scene: one of another shape would be distorted.
        let smaller = full.size.hasShape(of: size) ? Self.smaller(smallerSize, beside: full, of: camera) : nil
        let wantedRate = settings.frameRate ?? frameRate
        let mode = system.sensorMode(index, for: full, wantedRate)
        session = try Self.session(full, smaller) { streams throws(CameraError) in
            try CameraSession(system, index: index, name: name, streams: streams, flips: orientation, mode: mode)
        }
        layouts = SourceLayouts(session.layouts[0], smaller: Array(session.layouts.dropFirst()))
        let controls = session.controls
        self.frameRate = Self.frameRate(wantedRate, controls)
        slowestRate =
            settings.lowLight == .slow ? min(self.frameRate, CameraSettings.LowLight.slowestRate) : self.frameRate
        let isRateFixed = settings.frameRate != nil || settings.controls.contains { $0.name == Self.durationLimitsName }
        durationLimits = isRateFixed ? nil : controls.first { $0.name == Self.durationLimitsName }
        let defaults = StreamingDefaults.controls(beside: settings, offered: controls)
        mapping = ControlMapping(
            offered: controls, size: session.layouts[0].size, mode: mode,
            isFocusing: defaults.contains(where: \.isContinuousFocus))
        let first = try (defaults + settings.controls).map { setting throws(CameraError) in
            try Self.resolve(setting, among: controls + camera.controls.filter(\.isFlip), name)
        }
        let status = session.set(first.filter { !$0.0.isFlip }.map { (control: $0.0, values: $0.1) })
        guard status >= 0 else { throw CameraError(name, "Request::controls", status) }
    }

    private static func smaller(
        _ size: FrameSize?, beside full: StreamWish, of camera: CameraDescription
    ) -> StreamWish? {
        guard let size, size.width < full.size.width else { return nil }
        return StreamWish(
            format: smallerFormat(beside: full.format, of: camera), size: size, bufferCount: smallerBufferCount)
    }

    public var statistics: VideoSourceStatistics {
        var statistics = counted
        statistics.mappedFrames = session.mappedFrames
        return statistics
    }

    private enum Waited {
        case stop, completions
    }

    public func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        if !isStarted {
            let status = session.start(frameRate: frameRate, slowest: slowestRate)
            guard status >= 0 else { throw CameraError(name, "Camera::start", status) }
            isStarted = true
        }
        while true {
            session.takeBack()
            while !waiting.isEmpty {
                let completion = waiting.removeFirst()
                // Only a driver that takes no more buffers cancels requests of a camera that runs.
                guard completion.status != CLIBCAMERA_CANCELLED else { throw CameraError.gone(camera: name) }
                if let frame = frame(completion) { return .captured(frame) }
            }
            var waits: PollSet<Waited> = [
                .stop: stop.fileDescriptor, .completions: session.queue.wakeup.fileDescriptor,
            ]
            guard try waits.wait(until: deadline) else { return .none }
            if waits.isReady(.stop) { return .stopped }
            session.queue.wakeup.drain()
            let news = session.queue.take()
            guard !news.isDisconnected else { throw CameraError.gone(camera: name) }
            waiting += news.completions
        }
    }

    private func frame(_ completion: clibcamera_completion) -> CapturedFrame? {
        guard Int(completion.index) < session.bufferCount else { return nil }
        let memory = session.lease(Int(completion.index))
        let stream = session.stream(ofBuffer: Int(completion.index))
        if stream != lastStream { order.numbersChange() }
        lastStream = stream
        let reported = MediaTimestamp(nanoseconds: Int64(clamping: completion.timestamp))
        let missed = max(
            order.missed(before: completion.sequence),
            order.missed(beforeFrameAt: reported, lasting: .microseconds(completion.frame_duration)))
        switch startup.verdict(completion.status, now: MonotonicClock.now()) {
        case .settling:
            counted.startupFrames += 1
            return nil
        case .broken:
            counted.droppedFrames += missed + 1
            return nil
        case .whole:
            // What is missing before the first one is no gap.
            if counted.capturedFrames > 0 { counted.droppedFrames += missed }
            counted.capturedFrames += 1
        }
        let time = order.captureTime(reported, now: MonotonicClock.now())
        return CapturedFrame(layout: session.layouts[stream], captureTime: time, memory: memory)
    }
}

extension LibcameraCamera: FrameSizeSelection {
    /// A camera that is gone says so where its next frame is waited for.
    public func selectSize(_ size: FrameSize) {
        guard let stream = session.layouts.firstIndex(where: { $0.size == size }) else { return }
        session.select(stream: stream)
    }
}

extension LibcameraCamera: FrameRateSelection {
    public func selectFrameRate(_ rate: FrameRate) {
        guard let durationLimits else { return }
        let durations = Self.frameDurations(rate, of: frameRate, slowest: slowestRate)
        // Out of range: the frames that are too many are left out later.
        guard durations[0] >= durationLimits.minimum, durations[1] <= durationLimits.maximum else { return }
        _ = session.set([(control: durationLimits, values: durations)])
    }

    /// Shortest and longest, in microseconds. A rate below the camera's own is a thousandth slower than asked for: the frames
    /// are paced by a grid of that rate, and one that came too early for its place would be left out.
    static func frameDurations(_ rate: FrameRate, of own: FrameRate, slowest: FrameRate) -> [Double] {
        let shortest = rate < own ? rate.frameDuration.inSeconds * 1.001 : own.frameDuration.inSeconds
        return [shortest, max(shortest, slowest.frameDuration.inSeconds)].map { ($0 * 1e6).rounded(.down) }
    }
}
