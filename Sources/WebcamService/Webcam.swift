import Controls
import DevicePorts
import LinuxIO
import Media
import USBVideo

/// The camera as a computer's webcam, on its own thread. Until a program there opens it, it only handles events. The stream
/// never waits for it.
public final class Webcam: FrameSink {
    /// Creates the whole gadget, which lives as long as its node. The controls are those known for the camera.
    public typealias OpenNode = @Sendable (VideoOffer, IsochronousBudget, [ControlStatus]) throws -> any WebcamNode

    private let feed: WebcamFeed

    /// - Parameters:
    ///   - controls: the camera's controls and their values.
    ///   - asks: whether someone at the camera must agree before a computer gets frames.
    ///   - report: called on the thread `webcam`.
    public init(
        on bus: IsochronousBudget = IsochronousBudget(), controls: [ControlStatus], asks: Bool,
        open: @escaping OpenNode,
        report: @escaping @Sendable (WebcamReport) -> Void
    ) throws(SystemCallError) {
        let feed = try WebcamFeed(controls)
        self.feed = feed
        // The driver may block if the computer stalls.
        _ = try NamedThread("webcam", mayBlock: true) {
            WebcamThread(feed, on: bus, asks: asks, open: open, report: report).run()
            report(.ended)
        }
    }

    public var wantsFrames: Bool { feed.isWanted }
    public func offer(_ frame: CapturedFrame, colors: VideoColors?) { feed.offer(frame, colors) }

    public func framesEnded() { feed.framesEnded() }

    /// Updates the camera's controls, for the computer's dialog.
    public func controlsChanged(_ statuses: [ControlStatus]) { feed.controlsChanged(statuses) }

    /// Someone at the camera agrees that the computer gets frames, until it is unplugged.
    public func allow() { feed.allow() }

    public var statistics: WebcamStatistics { feed.statistics }

    /// Starts to remove the gadget; `report` receives `ended` when it is gone.
    public func end() { feed.end() }

    /// Removes the gadget. The last owner, which may be a stream's thread, does not wait.
    deinit { feed.end() }
}
