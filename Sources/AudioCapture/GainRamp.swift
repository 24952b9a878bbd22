import Glibc
import Media

/// Amplifies samples. Gain changes are gradual, in inaudible steps.
struct GainRamp {
    /// Duration of a gain change.
    static let duration = Duration.milliseconds(20)
    /// In dB; nothing beyond it is audible.
    private static let limit = 100.0

    private let frameCount: Int
    private var factor: Float?
    private var target: Float = 1
    private var step: Float = 0
    /// Frames left in the current change.
    private var remaining = 0

    /// - Parameter sampleRate: stereo frames per second.
    init(sampleRate: Int) {
        frameCount = max(1, Int(Self.duration.inSeconds * Double(sampleRate)))
    }

    /// The first gain applies at once, later ones after `duration`.
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

    /// - Parameter samples: interleaved stereo. Louder samples are clipped at full scale.
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
