import Media

/// Compares the video encoder's output with its target, and corrects the target.
///
/// OpenH264 fluctuates by up to 40 % for some seconds after each change of bit rate, and outputs too little after its
/// frame rate was lowered. The first half second after a change is ignored; then each GOP corrects the target.
struct EncoderRateMonitor: Sendable {
    private struct Mark {
        let time: MediaTimestamp
        let bytes: Int
        let frames: Int
        let skipped: Int
    }

    /// Factor on the target bit rate that makes the encoder reach it.
    private(set) var correction = 1.0
    private var mark: Mark?
    private var changedAt: MediaTimestamp?
    /// Until this time, low output is attributed to the lowered frame rate.
    private var frameRateLoweredUntil: MediaTimestamp?
    /// Share of frames that the encoder skipped in the last window.
    private(set) var skippedShare = 0.0
    /// The encoder's output in the last window.
    private(set) var rate: Bitrate?
    /// Bits per pixel in the last window; `nil` if frames were skipped that would have needed more.
    private(set) var bitsPerPixel: Double?

    private let tuning: ControlTuning

    init(_ tuning: ControlTuning = ControlTuning()) { self.tuning = tuning }

    /// - Parameter frameRateFell: the encoder will output too little for a while.
    mutating func encoderChanged(now: MediaTimestamp, frameRateFell: Bool) {
        changedAt = now
        mark = nil
        skippedShare = 0
        // A correction learned at another bit rate counts half.
        correction = (1 + correction) / 2
        if frameRateFell { frameRateLoweredUntil = now + tuning.undershootTime }
    }

    /// The scene has changed, so earlier measurements no longer apply.
    mutating func startAnew(now: MediaTimestamp) {
        changedAt = now
        mark = nil
        skippedShare = 0
    }

    /// - Parameters:
    ///   - wanted: its target.
    ///   - size: of its frames.
    /// - Returns: whether the correction changed.
    mutating func measured(_ measurement: StreamMeasurement, wanted: Bitrate, size: FrameSize?) -> Bool {
        let now = measurement.now
        if let changedAt, now - changedAt < tuning.settlingTime { return false }
        let current = Mark(
            time: now, bytes: measurement.encodedVideoBytes, frames: measurement.encodedFrames,
            skipped: measurement.skippedFrames)
        guard let mark else {
            self.mark = current
            return false
        }
        guard now - mark.time >= tuning.correctionWindow else { return false }
        self.mark = current
        let given = Double(current.bytes - mark.bytes) * 8 / (now - mark.time).inSeconds
        rate = Bitrate(bitsPerSecond: Int(given))
        let skipped = current.skipped - mark.skipped
        skippedShare = Double(skipped) / Double(max(1, skipped + current.frames - mark.frames))
        bitsPerPixel = bitsPerPixel(Double(current.bytes - mark.bytes) * 8, Double(current.frames - mark.frames), size)
        return correct(given: given, wanted: Double(wanted.bitsPerSecond), now: now)
    }

    private func bitsPerPixel(_ bits: Double, _ frames: Double, _ size: FrameSize?) -> Double? {
        guard let size, frames > 0, skippedShare < tuning.skipsOfStillScene else { return nil }
        return bits / frames / Double(max(1, size.pixelCount))
    }

    private mutating func correct(given: Double, wanted: Double, now: MediaTimestamp) -> Bool {
        guard given > 0, wanted > 0, abs(given / wanted - 1) > tuning.encoderTolerance else { return false }
        // Low output may only mean that the scene is simple; a higher target would then show when the scene changes.
        let ceiling =
            frameRateLoweredUntil.map { now < $0 } ?? false ? tuning.undershootCorrection : tuning.largestCorrection
        let step = min(max(wanted / given, 0.75), 1.3)
        let corrected = min(max(correction * step, tuning.smallestCorrection), ceiling)
        guard abs(corrected / correction - 1) > 0.03 else { return false }
        correction = corrected
        return true
    }
}
