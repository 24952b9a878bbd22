import CLibcamera
import DevicePorts
import Glibc
import LinuxIO
import Media

/// An open libcamera camera. Its frames are leased as DMABUFs.
public final class LibcameraCamera: Camera {
    public let name: String
    public let model: String
    /// libcamera's id, which identifies this camera when it is opened again.
    public let id: String
    public let frameRate: FrameRate
    public var layout: FrameLayout { layouts.full }
    public let layouts: SourceLayouts
    public let memoryKind = FrameMemoryKind.dmabuf
    public let flips: FrameFlips
    public var colors: VideoColors? { session.colors }

    let session: CameraSession
    var mapping: ControlMapping
    /// The lowest rate that exposure may cause.
    private let slowestRate: FrameRate
    /// `nil` if the camera has no such control, or the settings fix the frame duration.
    private let durationLimits: CameraControl?
    private let stop: EventFD
    private var isStarted = false
    private var waiting: [clibcamera_completion] = []
    private var order = CaptureOrder()
    private var startup = CameraStartup()
    /// The stream of the newest frame. Each stream may have its own frame numbers.
    private var lastStream = 0
    private var counted = VideoSourceStatistics()

    static let durationLimitsName = "FrameDurationLimits"

    /// Some are with the camera, one is kept for repeating, and the others are with the encoder.
    private static let bufferCount = 6
    /// For stills: two with the camera and one in use.
    private static let stillBufferCount = 3
    /// For the smaller frames: two with the camera, one kept for repeating, two with the encoder, which is faster with them,
    /// and two with a computer: one being read and the next.
    private static let smallerBufferCount = 7

    /// - Parameters:
    ///   - settings: `device` is an id, `front`, `back` or `external`, or empty for the first camera.
    /// the stream's, for what the settings leave open.
    ///   - smallerSize: the size of a second stream, for cameras that can deliver two.
    ///   - stop: ends the wait when signaled. It is not drained.
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
        // Both streams must show the same part of the scene: a different shape would be distorted.
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
                // While a camera runs, requests are canceled only if the driver accepts no more buffers.
                guard completion.status != CLIBCAMERA_CANCELED else { throw CameraError.gone(camera: name) }
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
            // Frames missing before the first one are not a gap.
            if counted.capturedFrames > 0 { counted.droppedFrames += missed }
            counted.capturedFrames += 1
        }
        let time = order.captureTime(reported, now: MonotonicClock.now())
        return CapturedFrame(layout: session.layouts[stream], captureTime: time, memory: memory)
    }
}

extension LibcameraCamera: FrameSizeSelection {
    /// If the camera is gone, the wait for its next frame reports that.
    public func selectSize(_ size: FrameSize) {
        guard let stream = session.layouts.firstIndex(where: { $0.size == size }) else { return }
        session.select(stream: stream)
    }
}

extension LibcameraCamera: FrameRateSelection {
    public func selectFrameRate(_ rate: FrameRate) {
        guard let durationLimits else { return }
        let durations = Self.frameDurations(rate, of: frameRate, slowest: slowestRate)
        // Out of range: surplus frames are dropped later.
        guard durations[0] >= durationLimits.minimum, durations[1] <= durationLimits.maximum else { return }
        _ = session.set([(control: durationLimits, values: durations)])
    }

    /// Shortest and longest frame duration in microseconds. Below the camera's own rate, the shortest is a thousandth longer
    /// than requested. Frames are paced on a grid of that rate, and a frame that came early would be dropped.
    static func frameDurations(_ rate: FrameRate, of own: FrameRate, slowest: FrameRate) -> [Double] {
        let shortest = rate < own ? rate.frameDuration.inSeconds * 1.001 : own.frameDuration.inSeconds
        return [shortest, max(shortest, slowest.frameDuration.inSeconds)].map { ($0 * 1e6).rounded(.down) }
    }
}
