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
                guard let (frame, source) = try frame(request, settings, stop: stop) else {
                    return (.failed(request, reason: "the camera gave no frame before it was needed elsewhere"), nil)
                }
                let brightness = Brightness(of: frame, from: source)
                StreamFilters(settings.filters, reports: try Mailbox())
                    .apply(to: frame, colors: source.colors, status)
                let answer = SnapshotFile(of: frame, from: source).file(for: request)
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

    /// - Returns: with the source that it belongs to; `nil` when it was stopped.
    private func frame(
        _ request: SnapshotRequest, _ settings: MediaSettings, stop: EventFD
    ) throws -> (CapturedFrame, any VideoSource)? {
        // Nobody hears what the camera's thread would report to a stream.
        let source = try VideoTrack.source(settings, stop: stop, requests: EncoderRequests(), reports: try Mailbox())
        guard let source else { throw StreamFailure(.cameraUnavailable, "there is no camera") }
        VideoTrack.setControls(of: source, settings.controls, EventSink { _ in })
        // There is no encoder to wait for.
        (source as? AdjustedSource)?.showAtOnce()
        return try settledFrame(of: source, request).map { ($0, source) }
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
