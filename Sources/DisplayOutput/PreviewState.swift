import DevicePorts
import LinuxIO
import Media
import Synchronization

/// Passes content from the stream's threads to the thread `display`, and its state back.
final class PreviewState: Sendable {
    private struct Inner {
        var leases = FrameLeases()
        var page = ScreenPage(.idle, "")
        var isPageNew = false
        /// Whether frames arrive; otherwise the page has the whole screen.
        var hasFrames = false
        /// Whether a display is lit. Frames are useful only then.
        var isLit = false
        var isEnding = false
        var statistics = PreviewStatistics()

        /// - Parameters:
        ///   - frame: the next one.
        ///   - buffer: its memory, if the display reads it directly.
        /// - Returns: `nil` if another frame is the next one by now.
        mutating func work(with frame: CapturedFrame?, _ buffer: DMABuffer?, now: MediaTimestamp) -> Work? {
            guard leases.next?.frame.memory === frame?.memory else { return nil }
            var work = Work(currentPage: page, hasFrames: hasFrames)
            if isPageNew { work.page = page }
            isPageNew = false
            work.frame = leases.take(isHeld: buffer != nil, now: now).map { lease in
                FrameToShow(
                    layout: lease.frame.layout, colors: lease.colors,
                    samples: buffer.map { .buffer($0) } ?? .frame(lease.frame))
            }
            return work
        }
    }

    /// The next content of the display; `nil` means no change.
    struct Work: Sendable {
        var frame: FrameToShow?
        var page: ScreenPage?
        /// The present page, whether new or not.
        var currentPage: ScreenPage
        var hasFrames: Bool
    }

    let wake: EventFD
    private let inner = Mutex(Inner())

    init() throws(SystemCallError) { wake = try EventFD() }

    var statistics: PreviewStatistics { inner.withLock { $0.statistics } }
    var isEnding: Bool { inner.withLock { $0.isEnding } }
    var leaseDeadline: MediaTimestamp? { inner.withLock { $0.leases.deadline } }

    // MARK: Any thread

    func offer(_ frame: CapturedFrame, _ colors: VideoColors, now: MediaTimestamp) {
        // Drop the released frames outside of the lock.
        let (isWanted, _) = inner.withLock { inner in
            guard inner.isLit, !inner.isEnding else { return (false, [FrameLeases.Lease]()) }
            inner.hasFrames = true
            // Needed even if the thread hangs in the driver.
            let old = inner.leases.expire(now: now)
            let replaced = inner.leases.offered(frame, colors, now: now)
            inner.statistics.lostFrames += (replaced == nil ? 0 : 1) + (old.hasNext ? 1 : 0)
            return (true, old.released + [replaced].compactMap { $0 })
        }
        if isWanted { wake.signal() }
    }

    func framesEnded() {
        _ = inner.withLock { inner in
            inner.hasFrames = false
            return inner.leases.removeAll()
        }
        wake.signal()
    }

    func show(_ page: ScreenPage) {
        let isNew = inner.withLock { inner in
            guard inner.page != page else { return false }
            inner.page = page
            inner.isPageNew = true
            return true
        }
        if isNew { wake.signal() }
    }

    func end() {
        inner.withLock { $0.isEnding = true }
        wake.signal()
    }

    // MARK: The thread `display`

    func lit() {
        inner.withLock { inner in
            inner.isLit = true
            inner.isPageNew = true
        }
    }

    func dark() {
        _ = inner.withLock { inner in
            inner.isLit = false
            return inner.leases.removeAll()
        }
    }

    /// - Parameter asBuffer: whether the display reads the frame's DMABUF; otherwise the CPU reads it.
    func take(asBuffer: Bool, now: MediaTimestamp) -> Work {
        while true {
            // Duplicate its descriptor outside of the lock, for which the stream's threads wait.
            let next = inner.withLock { $0.leases.next?.frame }
            let buffer = asBuffer ? next?.duplicatedBuffer : nil
            let work = inner.withLock { $0.work(with: next, buffer, now: now) }
            if let work { return work }
        }
    }

    /// Makes the page new again.
    func pageLost() { inner.withLock { $0.isPageNew = true } }

    func frameLost() {
        _ = inner.withLock { inner in
            inner.statistics.lostFrames += 1
            return inner.leases.refused()
        }
    }

    /// Reports that the latest work is on the screen.
    func flipped(withFrame: Bool, isConverted: Bool, now: MediaTimestamp) {
        _ = inner.withLock { inner in
            guard withFrame else { return FrameLeases.Lease?.none }
            inner.statistics.shownFrames += 1
            if isConverted { inner.statistics.convertedFrames += 1 }
            return inner.leases.flipped(now: now)
        }
    }

    func releaseOld(now: MediaTimestamp) {
        _ = inner.withLock { inner in
            let old = inner.leases.expire(now: now)
            if old.hasNext { inner.statistics.lostFrames += 1 }
            return old
        }
    }
}

/// A frame to show. If the display reads it directly, it has no lease, so that a hanging driver cannot keep the camera's
/// buffers.
struct FrameToShow: Sendable {
    enum Samples: Sendable {
        /// The memory, with its own descriptor.
        case buffer(DMABuffer)
        /// For the CPU.
        case frame(CapturedFrame)
    }

    let layout: FrameLayout
    let colors: VideoColors
    let samples: Samples

    var isForProcessor: Bool { if case .frame = samples { true } else { false } }
}

extension CapturedFrame {
    fileprivate var duplicatedBuffer: DMABuffer? {
        dmabuf.flatMap { try? DMABuffer(duplicating: $0, byteCount: layout.byteCount) }
    }
}
