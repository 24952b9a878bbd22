import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A camera that is open for a screen or a computer, and no stream: its frames are as a stream's would be.
public struct IdleFrames: Sendable {
    private static let retryInterval = Duration.seconds(1)
    /// Whoever had it before may still be closing it: that is no news.
    private static let failuresOfNews = 2

    private let sinks: [any FrameSink]
    private let changes: Mailbox<[ControlChange]>
    private let settings: @Sendable () throws -> (MediaSettings, FilterStatus)

    /// - Parameters:
    ///   - changes: of the camera's controls, taken with each frame; they hold for a camera that is opened again, too.
    ///   - settings: of a stream, whose frames look the same, and what text in the frames says of it; asked for each time
    ///   that the camera is opened.
    public init(
        for sinks: [any FrameSink], changes: Mailbox<[ControlChange]>,
        as settings: @escaping @Sendable () throws -> (MediaSettings, FilterStatus)
    ) {
        self.sinks = sinks
        self.changes = changes
        self.settings = settings
    }

    /// Gives them the camera's frames, as soon and as long as it is there. The camera is closed when this returns.
    /// - Parameter stop: once signalled, it ends at once. It is not drained.
    public func run(stop: EventFD, report: (IdleFramesEvent) -> Void) {
        var failures = 0
        var wished = WishedControls()
        while !stop.isSignalled(until: MonotonicClock.now()) {
            do {
                try feed(stop: stop, keeping: &wished, report: report) {
                    if failures >= Self.failuresOfNews { report(.returned) }
                    failures = 0
                }
            } catch {
                failures += 1
                if failures == Self.failuresOfNews {
                    report(.away(reason: (error as? StreamFailure)?.text ?? "\(error)"))
                }
                guard !stop.isSignalled(until: MonotonicClock.now() + Self.retryInterval) else { return }
            }
        }
    }

    /// Until it is stopped.
    /// - Parameters:
    ///   - wished: what the camera was asked for since it was opened for the first time.
    ///   - seen: called with each frame.
    /// - Throws: when the camera does not open, or gives no frames any more.
    private func feed(
        stop: EventFD, keeping wished: inout WishedControls, report: (IdleFramesEvent) -> Void, seen: () -> Void
    ) throws {
        let (usual, status) = try settings()
        var opened = usual
        wished.take(Array(changes.takeAll().joined()))
        // The last one of a control holds.
        opened.controls += wished.changes
        let camera = try IdleCamera(opened, stop: stop)
        defer {
            // Whoever opens the camera next finds its memory free.
            withExtendedLifetime(camera) { for sink in sinks { sink.framesEnded() } }
        }
        report(.controls(camera.controlStatuses))
        while let frame = try camera.source.nextFrame() {
            let changed = Array(changes.takeAll().joined())
            if !changed.isEmpty {
                wished.take(changed)
                camera.apply(changed)
                report(.controls(camera.controlStatuses))
            }
            // One that is away would repeat its last frame: for a stream that must go on, not for a screen that has words to show.
            for case .video(.source(.interrupted(_, _, let reason))) in camera.reports.takeAll() {
                throw StreamFailure(.cameraUnavailable, reason)
            }
            seen()
            let start = MonotonicClock.now()
            camera.filters.apply(to: frame, colors: camera.source.colors, status)
            for sink in sinks { sink.offer(frame, colors: camera.source.colors) }
            camera.filters.frameDone(after: MonotonicClock.now() - start, at: frame.captureTime)
        }
        guard stop.isSignalled(until: MonotonicClock.now()) else {
            throw StreamFailure(.cameraUnavailable, camera.source.endingNote ?? "the source has ended")
        }
    }
}
