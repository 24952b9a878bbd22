import Controls
import DevicePorts
import LinuxIO
import Media
import USBVideo

/// The camera as a computer's webcam, on a thread of its own. It costs nothing but events until a program there looks; the
/// stream never waits for it.
public final class Webcam: FrameSink {
    /// Makes the whole gadget, which lives as long as its node. The controls are those that the camera is known to have.
    public typealias OpenNode = @Sendable (VideoOffer, IsochronousBudget, [ControlStatus]) throws -> any WebcamNode

    private let feed: WebcamFeed

    /// - Parameters:
    ///   - controls: what the camera has and is set to.
    ///   - asks: whether somebody at the camera has to agree before a computer gets frames.
    ///   - report: called on the thread `webcam`.
    public init(
        on bus: IsochronousBudget = IsochronousBudget(), controls: [ControlStatus], asks: Bool,
        open: @escaping OpenNode,
        report: @escaping @Sendable (WebcamReport) -> Void
    ) throws(SystemCallError) {
        let feed = try WebcamFeed(controls)
        self.feed = feed
        // A driver whose computer stands still may keep it.
        _ = try NamedThread("webcam", mayBlock: true) {
            WebcamThread(feed, on: bus, asks: asks, open: open, report: report).run()
            report(.ended)
        }
    }

    public var wantsFrames: Bool { feed.isWanted }
    public func offer(_ frame: CapturedFrame, colors: VideoColors?) { feed.offer(frame, colors) }

    public func framesEnded() { feed.framesEnded() }

    /// What the camera has and is set to, for the computer's dialogue.
    public func controlsChanged(_ statuses: [ControlStatus]) { feed.controlsChanged(statuses) }

    /// Somebody at the camera agrees that the computer gets frames, until it is unplugged.
    public func allow() { feed.allow() }

    public var statistics: WebcamStatistics { feed.statistics }

    /// Starts to take the gadget down; `report` gets `ended` when it is gone.
    public func end() { feed.end() }

    /// The gadget is taken down. Whoever lets go of it last, a stream's thread perhaps, does not wait.
    deinit { feed.end() }
}
