import CLibcamera
import DevicePorts
import Glibc
import LinuxIO
import Media

/// A camera of libcamera's that is open. Pictures are lent as DMABUF.
public final class LibcameraCamera: Camera {
    public let name: String
    public let frameRate: FrameRate
    public var layout: FrameLayout { session.layout }

    private let session: CameraSession
    private let stop: EventFD
    private var isStarted = false
    private var waiting: [clibcamera_completion] = []
    private var lastSequence: UInt32?
    private var lastTime = MediaTimestamp.zero
    private var counted = VideoSourceStatistics()

    /// As CLibcamera.h has them.
    private enum CompletionStatus {
        static let whole: Int32 = 0
        static let cancelled: Int32 = 2
    }

    /// Some are with the camera, one is kept to be repeated, and the rest are with the encoder.
    private static let bufferCount = 6
    /// A sensor's clock that differs more from the system's is another clock.
    private static let largestAge = Duration.seconds(5)

    /// - Parameters:
    ///   - settings: `device` is an id, `front`, `back` or `external`, or empty for the first camera.
    ///   - size, frameRate: of the stream, for what the settings leave open.
    ///   - stop: once signalled, waiting ends. It is not drained.
    public init(
        _ settings: CameraSettings, size: PictureSize, frameRate: FrameRate, stop: EventFD
    ) throws(CameraError) {
        let (system, cameras) = try Self.cameras(for: settings.device)
        let index = try Self.choose(settings.device, among: cameras)
        let camera = cameras[index]
        name = camera.model.isEmpty ? camera.id : "\(camera.model) (\(camera.id))"
        self.stop = stop
        self.frameRate = settings.frameRate ?? frameRate
        session = try CameraSession(
            system, index: index, name: name, format: Self.format(settings, of: camera),
            size: settings.size ?? size, bufferCount: Self.bufferCount)
        for setting in settings.controls { try set(setting, camera.controls) }
    }

    private static func cameras(for device: String) throws(CameraError) -> (CameraSystem, [CameraDescription]) {
        do throws(CameraError) {
            let system = try CameraSystem.shared()
            return (system, system.cameras())
        } catch {
            guard case .none(_, let reason) = error else { throw error }
            throw .none(asked: device, reason: reason)
        }
    }

    static func choose(_ device: String, among cameras: [CameraDescription]) throws(CameraError) -> Int {
        guard !cameras.isEmpty else { throw .none(asked: device, reason: CameraSystem.absenceReason()) }
        if device.isEmpty { return 0 }
        let index = cameras.firstIndex { $0.id == device || $0.location.map { "\($0)" } == device }
        guard let index else {
            let offered = cameras.map { camera in
                camera.location.map { "\(camera.id) (\($0))" } ?? camera.id
            }
            throw .noMatch(asked: device, offered: offered.joined(separator: ", "))
        }
        return index
    }

    /// NV12 is what encoders take, and what they can be given without a copy. BGR888 comes before RGB888 because
    /// vimc lists both but streams only the first, the order of its scaler's output.
    private static func format(
        _ settings: CameraSettings, of camera: CameraDescription
    ) throws(CameraError) -> PixelFormat {
        if let asked = settings.format {
            guard let format = PixelFormat(asked) else {
                throw .unsupportedFormat(camera: camera.id, format: "\(asked)")
            }
            return format
        }
        let offered = Set(camera.modes.filter { $0.modifier == 0 }.map(\.format))
        return [.nv12, .i420, .yuyv, .uyvy, .bgr888, .rgb888].first { offered.contains($0.fourCC) } ?? .nv12
    }

    private func set(_ setting: CameraSettings.Control, _ offered: [CameraControl]) throws(CameraError) {
        guard let control = offered.first(where: { $0.name == setting.name }) else {
            let names = offered.map(\.name).joined(separator: ", ")
            throw .unknownControl(camera: name, name: setting.name, offered: names)
        }
        guard let value = control.value(setting.value) else {
            throw .badControlValue(
                camera: name, name: setting.name, value: setting.value, possible: control.possibleValues)
        }
        let status = session.set(control, to: value)
        guard status >= 0 else { throw CameraError(name, "Request::controls", status) }
    }

    public var statistics: VideoSourceStatistics {
        var statistics = counted
        statistics.mappedFrames = session.mappedFrames
        return statistics
    }

    public func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        if !isStarted {
            let status = session.start(frameRate: frameRate)
            guard status >= 0 else { throw CameraError(name, "Camera::start", status) }
            isStarted = true
        }
        while true {
            while !waiting.isEmpty {
                let completion = waiting.removeFirst()
                // Only a driver that takes no more buffers cancels requests of a camera that runs.
                guard completion.status != CompletionStatus.cancelled else { throw CameraError.gone(camera: name) }
                if let frame = frame(completion) { return .captured(frame) }
            }
            var entries = [PollEntry(stop.fileDescriptor), PollEntry(session.queue.wakeup.fileDescriptor)]
            guard try poll(&entries, until: deadline) > 0 else { return .none }
            if !entries[0].ready.isEmpty { return .stopped }
            session.queue.wakeup.drain()
            let news = session.queue.take()
            guard !news.isDisconnected else { throw CameraError.gone(camera: name) }
            waiting += news.completions
        }
    }

    private func frame(_ completion: clibcamera_completion) -> CapturedFrame? {
        guard Int(completion.index) < session.bufferCount else { return nil }
        // From here on, the request goes back by itself.
        let memory = LentRequest(session, index: Int(completion.index))
        guard completion.status == CompletionStatus.whole else {
            counted.droppedFrames += 1
            return nil
        }
        if let lastSequence {
            let missed = completion.sequence &- lastSequence &- 1
            // A driver that starts its numbers anew has lost nothing.
            if missed < 1000 { counted.droppedFrames += Int(missed) }
        }
        lastSequence = completion.sequence
        counted.capturedFrames += 1
        let now = MonotonicClock.now()
        let told = MediaTimestamp(nanoseconds: Int64(clamping: completion.timestamp))
        let isOurs = told <= now && now - told < Self.largestAge
        lastTime = max(isOurs ? told : now, lastTime + .nanoseconds(1))
        return CapturedFrame(layout: layout, captureTime: lastTime, memory: memory)
    }
}
