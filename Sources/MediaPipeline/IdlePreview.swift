import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A camera that is open for a screen and no stream: what would be sent is seen before it is.
public struct IdlePreview: Sendable {
    private static let retryInterval = Duration.seconds(1)
    /// Whoever had it before may still be closing it: that is no news.
    private static let failuresOfNews = 2

    private let preview: any PreviewSink
    private let settings: @Sendable () throws -> (MediaSettings, FilterStatus)

    /// - Parameter settings: of a stream, whose frames look the same, and what text in the frames says of it; asked for each time
    ///   that the camera is opened.
    public init(
        on preview: any PreviewSink, as settings: @escaping @Sendable () throws -> (MediaSettings, FilterStatus)
    ) {
        self.preview = preview
        self.settings = settings
    }

    /// Shows the camera's frames, as soon and as long as it is there. The camera is closed when this returns.
    /// - Parameter stop: once signalled, it ends at once. It is not drained.
    public func run(stop: EventFD, report: (IdlePreviewEvent) -> Void) {
        var failures = 0
        while !Self.isSignalled(stop, until: MonotonicClock.now()) {
            do {
                try showFrames(stop: stop) {
                    if failures >= Self.failuresOfNews { report(.returned) }
                    failures = 0
                }
            } catch {
                failures += 1
                if failures == Self.failuresOfNews {
                    report(.away(reason: (error as? StreamFailure)?.text ?? "\(error)"))
                }
                guard !Self.isSignalled(stop, until: MonotonicClock.now() + Self.retryInterval) else { return }
            }
        }
    }

    /// Until it is stopped.
    /// - Parameter seen: called with each frame.
    /// - Throws: when the camera does not open, or gives no frames any more.
    private func showFrames(stop: EventFD, seen: () -> Void) throws {
        let (settings, status) = try settings()
        let camera = try IdleCamera(settings, stop: stop)
        defer {
            // A camera is closed when nobody holds its frames any more.
            withExtendedLifetime(camera) { preview.framesEnded() }
        }
        while let frame = try camera.source.nextFrame() {
            // One that is away would repeat its last frame: for a stream that must go on, not for a screen that has words to show.
            for case .source(.interrupted(_, _, let reason)) in camera.reports.takeAll() {
                throw StreamFailure(.cameraUnavailable, reason)
            }
            seen()
            let start = MonotonicClock.now()
            camera.filters.apply(to: frame, colors: camera.source.colors, status)
            preview.offer(frame, colors: camera.source.colors)
            camera.filters.frameDone(after: MonotonicClock.now() - start, at: frame.captureTime)
        }
        guard Self.isSignalled(stop, until: MonotonicClock.now()) else {
            throw StreamFailure(.cameraUnavailable, camera.source.endingNote ?? "the source has ended")
        }
    }

    private static func isSignalled(_ stop: EventFD, until deadline: MediaTimestamp) -> Bool {
        var entries = [PollEntry(stop.fileDescriptor)]
        guard let count = try? poll(&entries, until: deadline) else { return true }
        return count > 0
    }
}
