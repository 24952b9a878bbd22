import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A camera that is open for a screen or a computer without a stream. Its frames look as they would in a stream.
public struct IdleFrames: Sendable {
    private static let retryInterval = Duration.seconds(1)
    /// The previous user may still be closing the camera, so the first failure is not reported.
    private static let failuresOfNews = 2

    private let sinks: [any FrameSink]
    private let changes: Mailbox<[ControlChange]>
    private let settings: @Sendable () throws -> (MediaSettings, FilterStatus)

    /// - Parameters:
    ///   - changes: changes to the camera's controls, applied before each frame. They also apply when the camera is reopened.
    ///   - settings: a stream's settings, whose frames look the same, and the state that text filters show; queried each time
    ///     the camera is opened.
    public init(
        for sinks: [any FrameSink], changes: Mailbox<[ControlChange]>,
        as settings: @escaping @Sendable () throws -> (MediaSettings, FilterStatus)
    ) {
        self.sinks = sinks
        self.changes = changes
        self.settings = settings
    }

    /// Passes on the camera's frames whenever it is available. The camera is closed when this returns.
    /// - Parameter stop: ends this at once when signaled. It is not drained.
    public func run(stop: EventFD, report: (IdleFramesEvent) -> Void) {
        var failures = 0
        var wished = WishedControls()
        while !stop.isSignaled(until: MonotonicClock.now()) {
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
                guard !stop.isSignaled(until: MonotonicClock.now() + Self.retryInterval) else { return }
            }
        }
    }

    /// Runs until it is stopped.
    /// - Parameters:
    ///   - wished: all control changes since the camera was first opened.
    ///   - seen: called for each frame.
    /// - Throws: if the camera cannot be opened, or delivers no more frames.
    private func feed(
        stop: EventFD, keeping wished: inout WishedControls, report: (IdleFramesEvent) -> Void, seen: () -> Void
    ) throws {
        let (usual, status) = try settings()
        var opened = usual
        wished.take(Array(changes.takeAll().joined()))
        // The last value of each control counts.
        opened.controls += wished.changes
        let camera = try IdleCamera(opened, stop: stop)
        defer {
            // Release the frames before the camera is closed, so that its memory is free for the next user.
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
            // A missing camera would repeat its last frame. That suits a stream, which must continue, but not a screen, which
            // has text to show.
            for case .video(.source(.interrupted(_, _, let reason))) in camera.reports.takeAll() {
                throw StreamFailure(.cameraUnavailable, reason)
            }
            seen()
            let start = MonotonicClock.now()
            camera.filters.apply(to: frame, colors: camera.source.colors, status)
            for sink in sinks { sink.offer(frame, colors: camera.source.colors) }
            camera.filters.frameDone(after: MonotonicClock.now() - start, at: frame.captureTime)
        }
        guard stop.isSignaled(until: MonotonicClock.now()) else {
            throw StreamFailure(.cameraUnavailable, camera.source.endingNote ?? "the source has ended")
        }
    }
}
