import DevicePorts
import Media

/// The frames that a preview holds: the next one, the one that is on its way to the screen, and the one there. None is held for
/// long: a camera that stands still, or a display's driver that does, gets its buffers back. Where that buffer is still on the
/// screen, the kernel keeps its memory, and what the camera writes into it next is seen a moment early.
struct FrameLeases: Sendable {
    struct Lease: Sendable {
        let frame: CapturedFrame
        let colors: VideoColors
        let since: MediaTimestamp
    }

    /// Two frames of the slowest usual camera.
    static let longest = Duration.milliseconds(100)

    private(set) var next: Lease?
    private var flipping: Lease?
    private var shown: Lease?

    /// When the oldest is released at the latest.
    var deadline: MediaTimestamp? {
        [next, flipping, shown].compactMap { $0.map { $0.since + Self.longest } }.min()
    }

    /// - Returns: what is released: to be dropped outside of any lock, as that may call a driver.
    mutating func offered(_ frame: CapturedFrame, _ colors: VideoColors, now: MediaTimestamp) -> Lease? {
        let replaced = next
        next = Lease(frame: frame, colors: colors, since: now)
        return replaced
    }

    /// The next frame goes to the screen.
    /// - Parameter isHeld: until it was shown; else whoever takes it drops it.
    mutating func take(isHeld: Bool, now: MediaTimestamp) -> Lease? {
        guard let taken = next else { return nil }
        next = nil
        if isHeld { flipping = Lease(frame: taken.frame, colors: taken.colors, since: taken.since) }
        return taken
    }

    /// What was taken is on the screen.
    /// - Returns: as `offered`.
    mutating func flipped(now: MediaTimestamp) -> Lease? {
        let released = shown
        shown = flipping
        flipping = nil
        return released
    }

    /// What was taken is not shown after all.
    /// - Returns: as `offered`.
    mutating func refused() -> Lease? {
        defer { flipping = nil }
        return flipping
    }

    /// - Returns: as `offered`, and whether the next frame, which was not shown, is among them.
    mutating func expire(now: MediaTimestamp) -> (released: [Lease], hasNext: Bool) {
        func isOld(_ lease: Lease?) -> Bool { lease.map { now - $0.since >= Self.longest } ?? false }
        let released = [next, flipping, shown].compactMap { isOld($0) ? $0 : nil }
        let hasNext = isOld(next)
        if hasNext { next = nil }
        if isOld(flipping) { flipping = nil }
        if isOld(shown) { shown = nil }
        return (released, hasNext)
    }

    /// - Returns: as `offered`.
    mutating func removeAll() -> [Lease] {
        defer { (next, flipping, shown) = (nil, nil, nil) }
        return [next, flipping, shown].compactMap { $0 }
    }
}
