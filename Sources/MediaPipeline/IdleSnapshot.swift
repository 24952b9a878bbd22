import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// One snapshot from a camera that is not open for anything else.
public struct IdleSnapshot: Sendable {
    private let settings: MediaSettings
    private let status: FilterStatus

    /// - Parameters:
    ///   - settings: a stream's settings, whose frames look the same.
    ///   - status: the state of such a stream that text filters show.
    public init(as settings: MediaSettings, _ status: FilterStatus) {
        self.settings = settings
        self.status = status
    }

    /// Opens the camera, waits until exposure has settled, and closes it. If memory is too short for the largest frames, or the
    /// driver cannot deliver them, uses a stream's size.
    /// - Parameter stop: ends this at once, without a snapshot, when signaled. It is not drained.
    /// - Returns: the answer, and the snapshot's brightness; `nil` without a snapshot.
    public func take(_ request: SnapshotRequest, stop: EventFD) -> (answer: SnapshotAnswer, brightness: Brightness?) {
        var settings = settings
        while true {
            do {
                let camera = try IdleCamera(settings, stop: stop)
                guard let frame = try settledFrame(of: camera.source, request) else {
                    return (.failed(request, .cameraTaken), nil)
                }
                let brightness = Brightness(of: frame, from: camera.source)
                camera.filters.apply(to: frame, colors: camera.source.colors, status)
                let answer = SnapshotFile(of: frame, from: camera.source).file(for: request)
                if settings.takesStills, case .taken(_, let snapshot) = answer, let limit = request.largestByteCount,
                    snapshot.byteCount > limit
                {
                    settings.takesStills = false
                    continue
                }
                return (answer, brightness)
            } catch {
                guard settings.takesStills else {
                    return (.failed(request, .camera(reason: (error as? StreamFailure)?.text ?? "\(error)")), nil)
                }
                settings.takesStills = false
            }
        }
    }

    /// - Returns: `nil` if it was stopped.
    private func settledFrame(of source: any VideoSource, _ request: SnapshotRequest) throws -> CapturedFrame? {
        var settling: ExposureSettling?
        while let frame = try source.nextFrame() {
            // Sources other than cameras have no exposure to wait for.
            guard settings.video.isCamera || request.awaitsExposure else { return frame }
            var present = settling ?? ExposureSettling(from: frame.captureTime)
            if present.frameTaken(frame, by: source) { return frame }
            settling = present
        }
        return nil
    }
}
