import Glibc
import Media

/// Amplifies samples. A change of the gain takes a moment, in steps too small to be heard.
struct GainRamp {
    /// Of a change.
    static let duration = Duration.milliseconds(20)
    /// In dB; beyond it is nothing that could be heard.
    private static let limit = 100.0

    private let frameCount: Int
    private var factor: Float?
    private var target: Float = 1
    private var step: Float = 0
    /// Frames that are left of a change.
    private var remaining = 0

    /// - Parameter sampleRate: frames of both channels per second.
    init(sampleRate: Int) {
        frameCount = max(1, Int(Self.duration.inSeconds * Double(sampleRate)))
    }

    /// The first gain holds at once, each other one after `duration`.
    mutating func change(toDecibels decibels: Double, isMuted: Bool) {
        let bounded = decibels.isFinite ? min(max(decibels, -Self.limit), Self.limit) : 0
        target = isMuted ? 0 : Float(pow(10, bounded / 20))
        guard let factor else {
            factor = target
            return
        }
        remaining = frameCount
        step = (target - factor) / Float(frameCount)
    }

    /// - Parameter samples: stereo, interleaved. What gets too loud is cut off at full scale.
    mutating func amplify(_ samples: inout [Int16]) {
        var factor = factor ?? target
        guard remaining > 0 || factor != 1 else { return }
        for frame in 0..<samples.count / 2 {
            if remaining > 0 {
                remaining -= 1
                factor = remaining == 0 ? target : factor + step
            }
            for index in [2 * frame, 2 * frame + 1] {
                samples[index] = Int16(min(max(Float(samples[index]) * factor, -32768), 32767))
            }
        }
        self.factor = factor
    }
}
