import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A display of this machine as a preview: what is connected to a card's connector, lit as soon as it is there, and looked for for
/// as long as it is not. The stream does not depend on it.
public final class Display: PreviewSink {
    /// Makes what brings frames of a layout to another size as I420, bars included.
    public typealias MakeScaler = @Sendable (FrameLayout, FrameSize) throws -> any FrameScaler

    private let state: PreviewState

    /// - Parameters:
    ///   - connector: as the kernel names it, for example `HDMI-A-1`; `nil` for the first one that has a display.
    ///   - report: called on the thread `display`, once for each thing that changes.
    public init(
        connector: String?, makeScaler: @escaping MakeScaler, report: @escaping @Sendable (PreviewEvent) -> Void
    ) throws(SystemCallError) {
        let state = try PreviewState()
        self.state = state
        // Drivers wait for displays as long as they like.
        _ = try NamedThread("display", mayBlock: true) {
            DisplayThread(state, connector: connector, makeScaler: makeScaler, report: report).run()
        }
    }

    /// The screen is there to be seen.
    public var wantsFrames: Bool { true }

    public func offer(_ frame: CapturedFrame, colors: VideoColors?) {
        state.offer(frame, colors ?? .usual(for: frame.layout.size), now: MonotonicClock.now())
    }

    public func framesEnded() { state.framesEnded() }

    public func show(_ page: ScreenPage) { state.show(page) }

    public var statistics: PreviewStatistics { state.statistics }

    /// The thread ends, and lets go of the display.
    deinit { state.end() }
}
