import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// One snapshot of a camera that is open for nothing else.
public struct IdleSnapshot: Sendable {
    private let settings: MediaSettings
    private let status: FilterStatus

    /// - Parameters:
    ///   - settings: of a stream, whose frames look the same.
    ///   - status: what text in the frame says of such a stream.
    public init(as settings: MediaSettings, _ status: FilterStatus) {
        self.settings = settings
        self.status = status
    }

    /// Opens the camera, waits until exposure has settled, and closes it. Where there is no memory for the largest frames, or the
    /// driver does not give them, it is opened as for a stream.
    /// - Parameter stop: once signalled, it ends at once, without a snapshot.
    /// - Returns: the answer, and how bright the snapshot is; `nil` without one.
    public func take(_ request: SnapshotRequest, stop: EventFD) -> (answer: SnapshotAnswer, brightness: Brightness?) {
        var settings = settings
        while true {
            do {
                let camera = try IdleCamera(settings, stop: stop)
                guard let frame = try settledFrame(of: camera.source, request) else {
                    return (.failed(request, reason: "the camera gave no frame before it was needed elsewhere"), nil)
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
                    return (.failed(request, reason: (error as? StreamFailure)?.text ?? "\(error)"), nil)
                }
                settings.takesStills = false
            }
        }
    }

    /// - Returns: `nil` when it was stopped.
    private func settledFrame(of source: any VideoSource, _ request: SnapshotRequest) throws -> CapturedFrame? {
        var settling: ExposureSettling?
        while let frame = try source.nextFrame() {
            // What is no camera has no exposure.
            guard settings.video.isCamera || request.awaitsExposure else { return frame }
            var present = settling ?? ExposureSettling(from: frame.captureTime)
            if present.frameTaken(frame, by: source) { return frame }
            settling = present
        }
        return nil
    }
}
