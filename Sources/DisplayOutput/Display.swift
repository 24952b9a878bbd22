import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// A display of this machine as a preview. It lights up whatever is connected to a connector, and keeps looking while nothing
/// is. The stream does not depend on it.
public final class Display: PreviewSink {
    /// Creates a scaler that converts frames of one layout to I420 of another size, including bars.
    public typealias MakeScaler = @Sendable (FrameLayout, FrameSize) throws -> any FrameScaler

    private let state: PreviewState

    /// - Parameters:
    ///   - connector: the kernel's name, for example `HDMI-A-1`; `nil` for the first one with a display.
    ///   - report: called on the thread `display`, once for each change.
    public init(
        connector: String?, makeScaler: @escaping MakeScaler, report: @escaping @Sendable (PreviewEvent) -> Void
    ) throws(SystemCallError) {
        let state = try PreviewState()
        self.state = state
        // Drivers may wait for a display for any length of time.
        _ = try NamedThread("display", mayBlock: true) {
            DisplayThread(state, connector: connector, makeScaler: makeScaler, report: report).run()
        }
    }

    /// A screen always shows the stream.
    public var wantsFrames: Bool { true }

    public func offer(_ frame: CapturedFrame, colors: VideoColors?) {
        state.offer(frame, colors ?? .usual(for: frame.layout.size), now: MonotonicClock.now())
    }

    public func framesEnded() { state.framesEnded() }

    public func show(_ page: ScreenPage) { state.show(page) }

    public var statistics: PreviewStatistics { state.statistics }

    /// Ends the thread, which releases the display.
    deinit { state.end() }
}
