import Media
import SeededNumbers
import StreamQuality

/// Outputs frames like an H.264 encoder with rate control, including its flaws.
struct SimulatedEncoder {

    /// The encoder's flaws.
    struct Flaws {
        /// The fluctuation after a change of bit rate, as a share of it, and how fast it fades (seconds).
        var swing = 0.4
        var swingTime = 2.0
        /// The shortfall after the frame rate fell, and how fast it fades.
        var undershoot = 0.3
        var undershootTime = 3.0
        /// Constant factor of its output.
        var bias = 1.0
        /// The scene's highest rate, which the output does not exceed.
        var sceneBitsPerSecond = Double.infinity
        /// From this time the scene is still: each pixel of a frame takes 0.004 bits, whatever the target.
        var isStillFrom = Double.infinity
        /// When motion resumes.
        var isStillUntil = Double.infinity
        /// Relative variation of frame sizes.
        var noise = 0.25
        /// Frames skipped, in percent.
        var skippedPercent = 0
        /// Skip frames with too few bits per pixel, as OpenH264 does with natural content. Measured at Low1 and Low2
        /// and three sizes: 95 % at 0.014 bits, 84 % at 0.019, 33 % at 0.054, 8 % at 0.076 and above.
        var skipsLargeFrames = false

        func isStill(at time: Double) -> Bool { time >= isStillFrom && time < isStillUntil }

        static let none = Flaws(swing: 0, undershoot: 0, noise: 0)
    }

    var flaws = Flaws()
    private(set) var bitrate: Double
    private(set) var frameRate: Int
    private(set) var size: FrameSize?
    private(set) var encodedBytes = 0
    private(set) var encodedFrames = 0
    private(set) var skippedFrames = 0

    private var random: SeededGenerator
    private var changedAt = -1000.0
    private var swingSign = 0.0
    private var slowedAt = -1000.0
    private var nextTime = 0.0
    private var keyframeAt = -1000.0
    private var wantsKeyframe = true
    private var debt = 0.0
    private var frameNumber = 0

    /// A keyframe takes the bits of this many other frames.
    private static let keyframeWeight = 6.0
    var gopSeconds = 2.0

    init(point: OperatingPoint, flaws: Flaws, seed: UInt64) {
        bitrate = Double(point.videoBitrate.bitsPerSecond)
        frameRate = point.frameRate.framesPerSecond
        size = point.frameSize
        self.flaws = flaws
        random = SeededGenerator(seed: seed)
    }

    mutating func set(bitrate new: Bitrate, frameRate newRate: FrameRate, at time: Double) {
        let newBitrate = Double(new.bitsPerSecond)
        if newBitrate != bitrate {
            // Quantization lags: too much after a reduction, too little after a raise, and less so for small steps.
            let step = abs(newBitrate / bitrate - 1)
            swingSign = (newBitrate < bitrate ? 1 : -1) * min(1, step * 2)
            changedAt = time
        }
        if newRate.framesPerSecond < frameRate { slowedAt = time }
        bitrate = newBitrate
        frameRate = newRate.framesPerSecond
    }

    /// Replaces the encoder by another one.
    mutating func resize(to new: FrameSize?) {
        size = new
        wantsKeyframe = true
    }

    /// The scene's highest rate.
    private func sceneBits(at time: Double) -> Double {
        guard flaws.isStill(at: time), let size else { return flaws.sceneBitsPerSecond }
        return 0.004 * Double(size.pixelCount) * Double(frameRate)
    }

    private func skippedPercent(at time: Double) -> Int {
        guard !flaws.isStill(at: time) else { return 0 }
        guard flaws.skipsLargeFrames, let size else { return flaws.skippedPercent }
        let bits = bitrate / Double(frameRate) / Double(size.pixelCount)
        return Int(min(max(1 - (bits - 0.012) / 0.065, 0.05), 0.95) * 100)
    }

    mutating func requestKeyframe() { wantsKeyframe = true }

    /// - Returns: the frame captured at this time, if one is due.
    mutating func frame(at time: Double) -> EncodedPacket? {
        guard time + 1e-9 >= nextTime else { return nil }
        nextTime = max(nextTime, time - 1) + 1 / Double(frameRate)
        if !wantsKeyframe, Int.random(in: 0..<100, using: &random) < skippedPercent(at: time) {
            skippedFrames += 1
            return nil
        }
        let isKeyframe = wantsKeyframe || time - keyframeAt >= gopSeconds - 1e-9
        if isKeyframe { keyframeAt = time }
        wantsKeyframe = false
        let bytes = max(60, Int(size(isKeyframe: isKeyframe, at: time) / 8))
        encodedBytes += bytes
        encodedFrames += 1
        defer { frameNumber += 1 }
        return EncodedPacket(
            kind: .video(isKeyframe: isKeyframe), decodeTime: MediaScript.time(time),
            payload: (0..<4).map { UInt8(truncatingIfNeeded: frameNumber >> (8 * $0)) }
                + [UInt8](repeating: 0, count: bytes - 4))
    }

    private mutating func size(isKeyframe: Bool, at time: Double) -> Double {
        let wanted = min(rate(at: time), sceneBits(at: time))
        let frames = Double(frameRate) * gopSeconds
        let unit = wanted * gopSeconds / (Self.keyframeWeight + frames - 1)
        let planned = unit * (isKeyframe ? Self.keyframeWeight : 1)
        // The following frames save the excess of one frame.
        let noise = 1 + flaws.noise * Double.random(in: -1...1, using: &random)
        let size = max(unit * 0.2, planned * noise - debt * 0.1)
        debt += size - planned
        return size
    }

    private func rate(at time: Double) -> Double {
        let sinceChange = time - changedAt
        let swing = flaws.swing * swingSign * fade(sinceChange, flaws.swingTime)
        let missing = flaws.undershoot * fade(time - slowedAt, flaws.undershootTime)
        return bitrate * flaws.bias * (1 + swing) * (1 - missing)
    }

    /// Decreases from 1 to 0 over about `time`.
    private func fade(_ elapsed: Double, _ time: Double) -> Double {
        elapsed < 0 ? 0 : 1 / (1 + (elapsed / time) * (elapsed / time) * 4)
    }
}
