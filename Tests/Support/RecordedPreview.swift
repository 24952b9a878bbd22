import DevicePorts
import Media
import Synchronization

/// A screen that records what it is asked to show and holds no frame.
public final class RecordedPreview: PreviewSink {
    public var wantsFrames: Bool { true }
    public struct Record: Sendable {
        public var captureTimes: [MediaTimestamp] = []
        public var colors: [VideoColors?] = []
        public var formats: [PixelFormat] = []
        /// The first sample of each frame.
        public var lumas: [UInt8] = []
        public var pages: [ScreenPage] = []
        public var ends = 0
    }

    private let content = Mutex(Record())

    public init() {}

    public var record: Record { content.withLock { $0 } }

    public func offer(_ frame: CapturedFrame, colors: VideoColors?) {
        content.withLock { content in
            content.captureTimes.append(frame.captureTime)
            content.colors.append(colors)
            content.formats.append(frame.layout.format)
            content.lumas.append(frame.withBytes { $0.first ?? 0 })
        }
    }

    public func framesEnded() { content.withLock { $0.ends += 1 } }

    public func show(_ page: ScreenPage) {
        content.withLock { if $0.pages.last != page { $0.pages.append(page) } }
    }

    public var statistics: PreviewStatistics {
        var statistics = PreviewStatistics()
        statistics.shownFrames = record.captureTimes.count
        return statistics
    }
}
