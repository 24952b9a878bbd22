import DevicePorts
import Media

/// The frames that a preview holds: the next one, the one on its way to the screen, and the one being shown. None is held for
/// long, so that a camera gets its buffers back even if it or the display's driver stalls. If a returned buffer is still on the
/// screen, the kernel keeps its memory alive, and the camera's next frame there becomes visible a moment early.
struct FrameLeases: Sendable {
    struct Lease: Sendable {
        let frame: CapturedFrame
        let colors: VideoColors
        let since: MediaTimestamp
    }

    /// Two frames of the slowest common camera.
    static let longest = Duration.milliseconds(100)

    private(set) var next: Lease?
    private var flipping: Lease?
    private var shown: Lease?

    /// When the oldest lease must be released.
    var deadline: MediaTimestamp? {
        [next, flipping, shown].compactMap { $0.map { $0.since + Self.longest } }.min()
    }

    /// - Returns: the lease that is released. Drop it outside of any lock, because that may call a driver.
    mutating func offered(_ frame: CapturedFrame, _ colors: VideoColors, now: MediaTimestamp) -> Lease? {
        let replaced = next
        next = Lease(frame: frame, colors: colors, since: now)
        return replaced
    }

    /// Sends the next frame to the screen.
    /// - Parameter isHeld: whether to hold it until it was shown; otherwise the caller drops it.
    mutating func take(isHeld: Bool, now: MediaTimestamp) -> Lease? {
        guard let taken = next else { return nil }
        next = nil
        if isHeld { flipping = Lease(frame: taken.frame, colors: taken.colors, since: taken.since) }
        return taken
    }

    /// Reports that the taken frame is on the screen.
    /// - Returns: see `offered`.
    mutating func flipped(now: MediaTimestamp) -> Lease? {
        let released = shown
        shown = flipping
        flipping = nil
        return released
    }

    /// Reports that the taken frame will not be shown.
    /// - Returns: see `offered`.
    mutating func refused() -> Lease? {
        defer { flipping = nil }
        return flipping
    }

    /// - Returns: see `offered`; and whether the next frame is among them, which was never shown.
    mutating func expire(now: MediaTimestamp) -> (released: [Lease], hasNext: Bool) {
        func isOld(_ lease: Lease?) -> Bool { lease.map { now - $0.since >= Self.longest } ?? false }
        let released = [next, flipping, shown].compactMap { isOld($0) ? $0 : nil }
        let hasNext = isOld(next)
        if hasNext { next = nil }
        if isOld(flipping) { flipping = nil }
        if isOld(shown) { shown = nil }
        return (released, hasNext)
    }

    /// - Returns: see `offered`.
    mutating func removeAll() -> [Lease] {
        defer { (next, flipping, shown) = (nil, nil, nil) }
        return [next, flipping, shown].compactMap { $0 }
    }
}
