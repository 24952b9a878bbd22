import Media
import SeededNumbers
import StreamQuality

/// Gives pictures as an H.264 encoder with rate control does, flaws included.
struct SimulatedEncoder {

    /// How the encoder errs.
    struct Flaws {
        /// The swing after a change of bit rate, as a part of it, and how fast it fades (seconds).
        var swing = 0.4
        var swingTime = 2.0
        /// What is missing after the frame rate fell, and how fast that fades.
        var undershoot = 0.3
        var undershootTime = 3.0
        /// It gives so much of what it is told, always.
        var bias = 1.0
        /// What the scene needs at most; more is not given however much is allowed.
        var sceneBitsPerSecond = Double.infinity
        /// Sizes vary by this part from picture to picture.
        var noise = 0.25
        /// Pictures left out, of each hundred.
        var skippedPercent = 0

        static let none = Flaws(swing: 0, undershoot: 0, noise: 0)
    }

    var flaws = Flaws()
    private(set) var bitrate: Double
    private(set) var frameRate: Int
    private(set) var encodedBytes = 0
    private(set) var encodedPictures = 0
    private(set) var skippedPictures = 0

    private var random: SeededGenerator
    private var changedAt = -1000.0
    private var swingSign = 0.0
    private var slowedAt = -1000.0
    private var nextTime = 0.0
    private var keyFrameAt = -1000.0
    private var wantsKeyFrame = true
    private var debt = 0.0
    private var pictureNumber = 0

    /// A key frame takes the bits of so many others.
    private static let keyFrameWeight = 6.0
    private static let groupSeconds = 2.0

    init(point: OperatingPoint, flaws: Flaws, seed: UInt64) {
        bitrate = Double(point.videoBitrate.bitsPerSecond)
        frameRate = point.frameRate.framesPerSecond
        self.flaws = flaws
        random = SeededGenerator(seed: seed)
    }

    mutating func set(bitrate new: Bitrate, frameRate newRate: FrameRate, at time: Double) {
        let newBitrate = Double(new.bitsPerSecond)
        if newBitrate != bitrate {
            // Quantisation lags: too much after a fall, too little after a rise, and by less for a small step.
            let step = abs(newBitrate / bitrate - 1)
            swingSign = (newBitrate < bitrate ? 1 : -1) * min(1, step * 2)
            changedAt = time
        }
        if newRate.framesPerSecond < frameRate { slowedAt = time }
        bitrate = newBitrate
        frameRate = newRate.framesPerSecond
    }

    mutating func requestKeyFrame() { wantsKeyFrame = true }

    /// - Returns: the picture captured at this time, when one is due.
    mutating func picture(at time: Double) -> EncodedPacket? {
        guard time + 1e-9 >= nextTime else { return nil }
        nextTime = max(nextTime, time - 1) + 1 / Double(frameRate)
        if !wantsKeyFrame, Int.random(in: 0..<100, using: &random) < flaws.skippedPercent {
            skippedPictures += 1
            return nil
        }
        let isKeyFrame = wantsKeyFrame || time - keyFrameAt >= Self.groupSeconds - 1e-9
        if isKeyFrame { keyFrameAt = time }
        wantsKeyFrame = false
        let bytes = max(60, Int(size(isKeyFrame: isKeyFrame, at: time) / 8))
        encodedBytes += bytes
        encodedPictures += 1
        defer { pictureNumber += 1 }
        return EncodedPacket(
            kind: .video(isKeyFrame: isKeyFrame), decodeTime: MediaScript.time(time),
            payload: (0..<4).map { UInt8(truncatingIfNeeded: pictureNumber >> (8 * $0)) }
                + [UInt8](repeating: 0, count: bytes - 4))
    }

    private mutating func size(isKeyFrame: Bool, at time: Double) -> Double {
        let wanted = min(rate(at: time), flaws.sceneBitsPerSecond)
        let pictures = Double(frameRate) * Self.groupSeconds
        let unit = wanted * Self.groupSeconds / (Self.keyFrameWeight + pictures - 1)
        let planned = unit * (isKeyFrame ? Self.keyFrameWeight : 1)
        // What one picture took too much the next ones give back.
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

    /// Falls from 1 to 0 over about `time`.
    private func fade(_ elapsed: Double, _ time: Double) -> Double {
        elapsed < 0 ? 0 : 1 / (1 + (elapsed / time) * (elapsed / time) * 4)
    }
}
