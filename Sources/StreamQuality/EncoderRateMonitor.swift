import Media

/// Holds what the video encoder gives against what it was asked for, and says what to ask of it instead.
///
/// OpenH264 swings by up to 40 % for some seconds after each change of bit rate, and gives too little after its
/// frame rate was lowered. The first half second after a change is left out, then each GOP corrects.
struct EncoderRateMonitor: Sendable {
    private struct Mark {
        let time: MediaTimestamp
        let bytes: Int
        let frames: Int
        let skipped: Int
    }

    /// Factor on the wanted bit rate that makes the encoder give it.
    private(set) var correction = 1.0
    private var mark: Mark?
    private var changedAt: MediaTimestamp?
    /// Up to when an encoder that gives too little is thought to do so for the frame rate's sake.
    private var frameRateLoweredUntil: MediaTimestamp?
    /// The share of frames that the encoder left out in the last window.
    private(set) var skippedShare = 0.0
    /// What the encoder gave in the last window.
    private(set) var rate: Bitrate?
    /// What a pixel of a frame took then, in bits; `nil` when frames were left out that would have taken more.
    private(set) var bitsPerPixel: Double?

    private let tuning: ControlTuning

    init(_ tuning: ControlTuning = ControlTuning()) { self.tuning = tuning }

    /// - Parameter frameRateFell: the encoder will give too little for a while.
    mutating func encoderChanged(now: MediaTimestamp, frameRateFell: Bool) {
        changedAt = now
        mark = nil
        skippedShare = 0
        // What was learnt at another bit rate holds by half.
        correction = (1 + correction) / 2
        if frameRateFell { frameRateLoweredUntil = now + tuning.undershootTime }
    }

    /// Another scene: what was measured so far says nothing of it.
    mutating func startAnew(now: MediaTimestamp) {
        changedAt = now
        mark = nil
        skippedShare = 0
    }

    /// - Parameters:
    ///   - wanted: what it was asked for.
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
        // Too little may only mean that the scene is simple; then more pressure would be felt when it no longer is.
        let ceiling =
            frameRateLoweredUntil.map { now < $0 } ?? false ? tuning.undershootCorrection : tuning.largestCorrection
        let step = min(max(wanted / given, 0.75), 1.3)
        let corrected = min(max(correction * step, tuning.smallestCorrection), ceiling)
        guard abs(corrected / correction - 1) > 0.03 else { return false }
        correction = corrected
        return true
    }
}
