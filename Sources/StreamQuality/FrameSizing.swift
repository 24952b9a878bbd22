import Media

/// Chooses the frame size for a bit rate, by the bits available per pixel.
///
/// The size goes down at once, since a frame with too few bits is skipped entirely. It goes up only when the rate has
/// proved stable, and later after each time that it did not.
struct FrameSizing: Sendable {
    private let tuning: ControlTuning
    private var grownAt: MediaTimestamp?
    /// How long a larger size must have been affordable.
    private var waitBeforeGrowth: Duration
    private var affordableSince: MediaTimestamp?
    private var neededSince: MediaTimestamp?
    /// The size limit set when the encoder could not keep up, until the bit rate has risen.
    private var ceiling: (pixelCount: Int, until: Bitrate)?

    /// Bits per pixel in a scene with hardly any motion; otherwise `nil`. In such a scene the encoder's output is too
    /// low to test the link, so the bit rate does not rise. The frame size must not stay small because of that.
    private var bitsOfStillScene: Double?

    init(_ tuning: ControlTuning) {
        self.tuning = tuning
        waitBeforeGrowth = tuning.waitBeforeGrowth
    }

    /// - Parameter bits: per pixel, as the encoder last used them; `nil` if it would have needed more.
    mutating func scene(takes bits: Double?) {
        bitsOfStillScene = bits.map { $0 * tuning.growthMargin }.flatMap { $0 < tuning.leastBitsPerPixel ? $0 : nil }
    }

    /// The size at a new bit rate: the present one, or a smaller one if pixels would get too few bits. A person who
    /// chose few bits for a large frame gets them: the size shrinks only below the stream's starting rate.
    func shrunk(_ point: OperatingPoint, in ladder: FrameSizeLadder, start: Bitrate) -> FrameSize? {
        guard point.videoBitrate < start, isTooLarge(point.frameSize, for: point),
            let size = best(for: point, in: ladder),
            size.pixelCount < point.frameSize?.pixelCount ?? 0
        else { return point.frameSize }
        return size
    }

    /// Tracks the sizes that the present bit rate can afford.
    /// - Parameters:
    ///   - isSteady: the link carries the present rate.
    ///   - isLimited: the link's limit is known, and a rate close to it may turn out too high.
    ///   - isAtTop: the rate is at its configured maximum, so the stream's own size applies.
    /// - Returns: a larger size that has been affordable for long enough; otherwise `nil`.
    mutating func growth(
        of point: OperatingPoint, in ladder: FrameSizeLadder, isSteady: Bool, isLimited: Bool, isAtTop: Bool,
        now: MediaTimestamp
    ) -> FrameSize? {
        guard let present = point.frameSize,
            let size = isAtTop ? ladder.sizes.first : best(for: point, in: ladder, margin: tuning.growthMargin),
            size.pixelCount > present.pixelCount
        else {
            affordableSince = nil
            return nil
        }
        let since = affordableSince ?? now
        affordableSince = since
        let wait = isLimited ? waitBeforeGrowth : tuning.waitBeforeFreeGrowth
        return isSteady && now - since >= wait ? size : nil
    }

    /// Whether the present size has been too large for long enough to justify a restart.
    mutating func isShrinkingDue(of point: OperatingPoint, start: Bitrate, now: MediaTimestamp) -> Bool {
        guard point.videoBitrate < start, isTooLarge(point.frameSize, for: point) else {
            neededSince = nil
            return false
        }
        let since = neededSince ?? now
        neededSince = since
        return now - since >= tuning.waitBeforeShrinking
    }

    /// The encoder skips too many frames of this size.
    /// - Parameter most: the highest possible bit rate, at which the larger size is tried again.
    /// - Returns: the next smaller size; `nil` if there is none.
    mutating func encoderSkips(at point: OperatingPoint, upTo most: Bitrate, in ladder: FrameSizeLadder) -> FrameSize? {
        guard let present = point.frameSize, let smaller = ladder.size(below: present) else { return nil }
        ceiling = (smaller.pixelCount, until: min(point.videoBitrate * tuning.skipRelief, most))
        return smaller
    }

    mutating func changed(from old: FrameSize?, to new: FrameSize?, now: MediaTimestamp) {
        guard let old, let new, old != new else { return }
        affordableSince = nil
        neededSince = nil
        if new.pixelCount > old.pixelCount {
            grownAt = now
        } else if let grownAt {
            let held = now - grownAt >= tuning.growthProvingTime
            waitBeforeGrowth =
                held ? tuning.waitBeforeGrowth : min(waitBeforeGrowth * 2, tuning.longestWaitBeforeGrowth)
            self.grownAt = nil
        }
    }

    /// Sizes were affordable or too large for another scene.
    mutating func sceneChanged() {
        affordableSince = nil
        neededSince = nil
    }

    /// Another link, or the same one after a blackout: earlier failures no longer count.
    mutating func linkChanged() {
        waitBeforeGrowth = tuning.waitBeforeGrowth
        grownAt = nil
        affordableSince = nil
        neededSince = nil
        ceiling = nil
    }

    private func isTooLarge(_ size: FrameSize?, for point: OperatingPoint) -> Bool {
        guard let size else { return false }
        return bitsPerFrame(point) < (bitsOfStillScene ?? tuning.leastBitsPerPixel) * Double(size.pixelCount)
    }

    /// - Parameter margin: factor by which a size's required bits are multiplied.
    private func best(
        for point: OperatingPoint, in ladder: FrameSizeLadder, margin: Double = 1
    ) -> FrameSize? {
        let size = ladder.largest(
            forBitsPerFrame: bitsPerFrame(point),
            bitsPerPixel: bitsOfStillScene ?? tuning.wantedBitsPerPixel * margin)
        guard bitsOfStillScene == nil, let size, let ceiling, point.videoBitrate < ceiling.until,
            size.pixelCount > ceiling.pixelCount
        else {
            return size
        }
        return ladder.sizes.first { $0.pixelCount <= ceiling.pixelCount }
    }

    private func bitsPerFrame(_ point: OperatingPoint) -> Double {
        Double(point.videoBitrate.bitsPerSecond) / Double(point.frameRate.framesPerSecond)
    }
}

extension QualityController {
    /// Enlarges the frame when the rate has been sufficient for long, and shrinks it if that costs a restart and has
    /// been needed for long. Without a restart, the frame shrinks together with the bit rate, in `move`.
    mutating func resize(now: MediaTimestamp) -> [QualityAction] {
        guard settings.mayResize, let ladder = settings.frameSizes, operatingPoint.videoQuality != nil else {
            return []
        }
        // The rate of a probe is not yet proved.
        let isSteady = if case .steady = state { true } else { false }
        var point = operatingPoint
        let isAtTop = point.videoBitrate >= settings.bitrateRange.maximum * (1 - tuning.leastChange)
        // If each size costs a restart, wait until the rate has stopped rising.
        let isLimited = link.capacity != nil || settings.resize == .restart && !isAtTop
        if let larger = sizing.growth(
            of: point, in: ladder, isSteady: isSteady, isLimited: isLimited, isAtTop: isAtTop, now: now)
        {
            point.frameSize = larger
            return resized(to: point, .sizeFits, now: now)
        }
        if case .stalled = state { return [] }
        let lasting = lastingPoint
        guard settings.resize == .restart,
            sizing.isShrinkingDue(of: lasting, start: settings.bitrateRange.start, now: now)
        else { return [] }
        point.frameSize = sizing.shrunk(lasting, in: ladder, start: settings.bitrateRange.start)
        return resized(to: point, .sizeTooLarge, now: now)
    }

    /// The present point, with the bit rate expected once the backlog is sent. A restart for the lower rate would be
    /// regretted.
    private var lastingPoint: OperatingPoint {
        guard case .draining = state, let capacity = link.capacity else { return operatingPoint }
        let after = point(forTotal: capacity * tuning.share)
        return after.videoBitrate > operatingPoint.videoBitrate ? after : operatingPoint
    }

    /// The stream's own size, or a smaller one if that is too large for the point's rate.
    func largestSize(for point: OperatingPoint) -> FrameSize? {
        let point = Self.sized(point, settings)
        guard settings.mayResize, let ladder = settings.frameSizes else { return point.frameSize }
        return sizing.shrunk(point, in: ladder, start: settings.bitrateRange.start)
    }

    private mutating func resized(
        to point: OperatingPoint, _ reason: QualityChangeReason, now: MediaTimestamp
    ) -> [QualityAction] {
        guard settings.resize == .restart, point != operatingPoint else { return move(to: point, reason, now: now) }
        return restart(at: takingTierAlong(point, now: now), reason, now: now)
    }

    /// - Parameters:
    ///   - frameSizes: the sizes that the opened devices support.
    ///   - size: the opened size.
    public mutating func opened(frameSizes: FrameSizeLadder?, size: FrameSize) {
        settings.frameSizes = frameSizes
        operatingPoint.frameSize = size
    }

    /// The encoder did not accept the size and continues with this one.
    public mutating func sizeRefused(keeping size: FrameSize) {
        operatingPoint.frameSize = size
        settings.resize = .never
    }
}
