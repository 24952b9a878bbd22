import DevicePorts
import Glibc

extension AudioBlock {
    /// The loudest sample in dB below full scale; `nil` for digital silence.
    var peakDecibels: Double? {
        let peak = samples.reduce(UInt16(0)) { max($0, $1.magnitude) }
        return peak > 0 ? 20 * log10(Double(peak) / 32768) : nil
    }

    /// The mean power in dB below full scale; `nil` for digital silence.
    var meanDecibels: Double? {
        let power = samples.reduce(0) { $0 + Int($1) * Int($1) }
        return power > 0 ? 10 * log10(Double(power) / Double(samples.count) / (32768 * 32768)) : nil
    }
}
