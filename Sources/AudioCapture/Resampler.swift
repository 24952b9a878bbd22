import CResampler

/// speexdsp's resampler for interleaved samples, with a ratio that can be moved by parts per million while running.
final class Resampler {
    private let state: OpaquePointer
    let inputRate: Int
    private let outputRate: Int
    private let channelCount: Int
    /// The ratio's denominator: as large as the library keeps exact, a multiple of the output rate's reduced form.
    private let denominator: Double
    private var output: [Int16] = []
    /// What rounding has left of the corrections asked for so far, in steps of the numerator.
    private var remainder = 0.0

    /// How much later than its sample goes in a sample comes out, in seconds.
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
        // What comes out starts with the first sample, not with the filter's silence before it.
        speex_resampler_skip_zeros(state)
    }

    deinit { speex_resampler_destroy(state) }

    /// The card's clock is so much faster than its nominal rate. Steps are some 15 ppm wide; what one of them is off
    /// is made up by the next.
    func setCorrection(ppm: Double) throws(MicrophoneError) {
        let exact = denominator * Double(inputRate) / Double(outputRate) * (1 + ppm / 1e6) + remainder
        let numerator = exact.rounded()
        remainder = exact - numerator
        let status = speex_resampler_set_rate_frac(
            state, UInt32(numerator), UInt32(denominator), UInt32(inputRate), UInt32(outputRate))
        guard status == 0 else { throw .resamplerFailed(reason: String(cString: speex_resampler_strerror(status))) }
    }

    /// Takes all of the samples, whole frames, and appends what comes out.
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
