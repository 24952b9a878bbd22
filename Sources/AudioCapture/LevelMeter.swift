import Glibc

/// Measures the level of samples.
struct LevelMeter {
    private var peak: Float = 0
    private var power: Float = 0
    private var count = 0

    /// - Parameter sample: full scale is 32768.
    mutating func add(_ sample: Float) {
        peak = max(peak, abs(sample))
        power += sample * sample
        count += 1
    }

    /// The loudest sample in dB below full scale; `nil` for digital silence.
    var peakDecibels: Double? { peak > 0 ? Double(20 * log10(peak / 32768)) : nil }

    /// The mean power in dB below full scale; `nil` for digital silence.
    var meanDecibels: Double? {
        let mean = power / Float(max(1, count))
        return mean > 0 ? Double(10 * log10(mean / (32768 * 32768))) : nil
    }
}
