import Media

/// Chooses the frame size that goes with a bit rate, by the bits that a pixel gets.
///
/// Down at once, since a frame that gets too few bits is left out whole; up only when the rate has shown that it stays, and
/// later each time that it did not.
struct FrameSizing: Sendable {
    private let tuning: ControlTuning
    private var grownAt: MediaTimestamp?
    /// How long a larger size must have been affordable.
    private var waitBeforeGrowth: Duration
    private var affordableSince: MediaTimestamp?
    private var neededSince: MediaTimestamp?
    /// What the encoder could not keep up with, until the bit rate is higher than then.
    private var ceiling: (pixelCount: Int, until: Bitrate)?

    /// What a pixel takes in a scene in which hardly anything moves; `nil` in all others. The bit rate does not rise with such a
    /// scene, as an encoder that gives too little shows nothing of the link: the frame is not to stay small with it.
    private var bitsOfStillScene: Double?

    init(_ tuning: ControlTuning) {
        self.tuning = tuning
        waitBeforeGrowth = tuning.waitBeforeGrowth
    }

    /// - Parameter bits: of each pixel, as the encoder last gave them; `nil` where it would have needed more.
    mutating func scene(takes bits: Double?) {
        bitsOfStillScene = bits.map { $0 * tuning.growthMargin }.flatMap { $0 < tuning.leastBitsPerPixel ? $0 : nil }
    }

    /// The size at a new bit rate: the present one, or a smaller one where that gives a pixel too little. Who chose few bits for
    /// a large frame has them: nothing shrinks before the rate is below the one that the stream started with.
    func shrunk(_ point: OperatingPoint, in ladder: FrameSizeLadder, start: Bitrate) -> FrameSize? {
        guard point.videoBitrate < start, isTooLarge(point.frameSize, for: point),
            let size = best(for: point, in: ladder),
            size.pixelCount < point.frameSize?.pixelCount ?? 0
        else { return point.frameSize }
        return size
    }

    /// Watches what the present bit rate can afford.
    /// - Parameters:
    ///   - isSteady: the link carries what is sent.
    ///   - isLimited: the link's limit is known; what comes near to it may be too much after all.
    ///   - isAtTop: the rate is the highest that was chosen, and with it the stream's own size.
    /// - Returns: a larger size that has been affordable for long enough; else `nil`.
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

    /// Whether the present size has been too large for so long that a restart is worth it.
    mutating func isShrinkingDue(of point: OperatingPoint, start: Bitrate, now: MediaTimestamp) -> Bool {
        guard point.videoBitrate < start, isTooLarge(point.frameSize, for: point) else {
            neededSince = nil
            return false
        }
        let since = neededSince ?? now
        neededSince = since
        return now - since >= tuning.waitBeforeShrinking
    }

    /// The encoder leaves out too many frames of this size.
    /// - Parameter most: the highest bit rate that there is; at that, the larger size gets another try.
    /// - Returns: the next smaller one; `nil` when there is none.
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

    /// What was affordable or needed was so for another scene.
    mutating func sceneChanged() {
        affordableSince = nil
        neededSince = nil
    }

    /// Another link, or the same after a blackout: what did not hold there says nothing.
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

    /// - Parameter margin: what a size must be able to afford beyond the wanted bits.
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
    /// Makes the frame larger when the rate has long afforded it; and smaller where that costs a restart and has long been
    /// needed. Without one it becomes smaller together with the bit rate: `move`.
    mutating func resize(now: MediaTimestamp) -> [QualityAction] {
        guard settings.mayResize, let ladder = settings.frameSizes, operatingPoint.videoQuality != nil else {
            return []
        }
        // What a probe tries is not yet what the link carries.
        let isSteady = if case .steady = state { true } else { false }
        var point = operatingPoint
        let isAtTop = point.videoBitrate >= settings.bitrateRange.maximum * (1 - tuning.leastChange)
        // Where each size costs a restart, a rate that is still on its way up gets no size of its own.
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

    /// The present point, with the bit rate that it gets when what piled up is sent: a restart for less would be regretted.
    private var lastingPoint: OperatingPoint {
        guard case .draining = state, let capacity = link.capacity else { return operatingPoint }
        let after = point(forTotal: capacity * tuning.share)
        return after.videoBitrate > operatingPoint.videoBitrate ? after : operatingPoint
    }

    /// The stream's own size, or a smaller one where that is too large for the point's rate.
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
    ///   - frameSizes: what there is by what could be opened.
    ///   - size: what was opened.
    public mutating func opened(frameSizes: FrameSizeLadder?, size: FrameSize) {
        settings.frameSizes = frameSizes
        operatingPoint.frameSize = size
    }

    /// The encoder did not take the size, and goes on with this one.
    public mutating func sizeRefused(keeping size: FrameSize) {
        operatingPoint.frameSize = size
        settings.resize = .never
    }
}
