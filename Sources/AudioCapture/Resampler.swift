import CResampler

/// speexdsp's resampler for interleaved samples. Its ratio can be adjusted by parts per million while running.
final class Resampler {
    private let state: OpaquePointer
    let inputRate: Int
    private let outputRate: Int
    private let channelCount: Int
    /// The ratio's denominator: as large as the library can represent exactly, and a multiple of the reduced output rate.
    private let denominator: Double
    private var output: [Int16] = []
    /// Rounding error of all corrections so far, in steps of the numerator.
    private var remainder = 0.0

    /// The delay between input and output of a sample, in seconds.
    var latency: Double { Double(speex_resampler_get_input_latency(state)) / Double(inputRate) }

    /// - Parameter channelCount: 1 or 2.
    init(from inputRate: Int, to outputRate: Int, channelCount: Int = 2) throws(MicrophoneError) {
        var status: Int32 = 0
        guard
            let state = speex_resampler_init(
                UInt32(channelCount), UInt32(inputRate), UInt32(outputRate), SPEEX_RESAMPLER_QUALITY_DEFAULT + 1,
                &status), status == 0
        else { throw .resamplerFailed(reason: String(cString: speex_resampler_strerror(status))) }
        self.state = state
        self.inputRate = inputRate
        self.outputRate = outputRate
        self.channelCount = channelCount
        denominator = 60_000
        // Skip the filter's initial silence, so that the output starts with the first sample.
        speex_resampler_skip_zeros(state)
    }

    deinit { speex_resampler_destroy(state) }

    /// Sets how much faster than nominal the card's clock runs. Steps are about 15 ppm wide; the next call compensates for the
    /// rounding.
    func setCorrection(ppm: Double) throws(MicrophoneError) {
        let exact = denominator * Double(inputRate) / Double(outputRate) * (1 + ppm / 1e6) + remainder
        let numerator = exact.rounded()
        remainder = exact - numerator
        let status = speex_resampler_set_rate_frac(
            state, UInt32(numerator), UInt32(denominator), UInt32(inputRate), UInt32(outputRate))
        guard status == 0 else { throw .resamplerFailed(reason: String(cString: speex_resampler_strerror(status))) }
    }

    /// Consumes all samples, in whole frames, and appends the output.
    func process(_ samples: [Int16], to target: inout [Int16]) throws(MicrophoneError) {
        var position = 0
        output = output.isEmpty ? [Int16](repeating: 0, count: 8192) : output
        while position < samples.count {
            var taken = UInt32((samples.count - position) / channelCount)
            var given = UInt32(output.count / channelCount)
            let status = samples.withUnsafeBufferPointer { input in
                output.withUnsafeMutableBufferPointer { output in
                    speex_resampler_process_interleaved_int(
                        state, input.baseAddress.map { $0 + position }, &taken, output.baseAddress, &given)
                }
            }
            guard status == 0, taken > 0 || given > 0 else {
                throw .resamplerFailed(reason: String(cString: speex_resampler_strerror(status)))
            }
            target += output[..<(channelCount * Int(given))]
            position += channelCount * Int(taken)
        }
    }
}
