import DevicePorts

/// The sample format of a raw file or pipe: interleaved, little-endian.
public struct RawAudioFormat: Hashable, Sendable {
    public enum Sample: String, CaseIterable, Sendable {
        case s16le
        case s32le
        /// Full scale is -1 to 1. Values beyond it are clipped; NaN becomes silence.
        case f32le

        /// Bytes of one sample.
        var byteCount: Int { self == .s16le ? 2 : 4 }
    }

    public static let sampleRates = 8000...192_000
    public static let channelCounts = 1...8

    public let sample: Sample
    /// Per second and channel.
    public let sampleRate: Int
    /// In the channel order of `StereoDownmix`.
    public let channelCount: Int

    /// - Parameters:
    ///   - sampleRate: one of `sampleRates`.
    ///   - channelCount: one of `channelCounts`.
    public init(sample: Sample = .s16le, sampleRate: Int, channelCount: Int) {
        self.sample = sample
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// The format after mixing: mono stays mono, everything else becomes stereo.
    var mixed: AudioFormat { AudioFormat(sampleRate: sampleRate, channelCount: min(channelCount, 2)) }

    /// Bytes for one sample of each channel.
    var bytesPerFrame: Int { sample.byteCount * channelCount }

    /// Converts whole frames to mixed signed 16-bit samples.
    func samples(of bytes: UnsafeRawBufferPointer) -> [Int16] {
        if channelCount > 2 { return StereoDownmix(channelCount: channelCount).mix(levels(of: bytes)) }
        if sample != .s16le { return levels(of: bytes).map(Int16.init(level:)) }
        return (0..<bytes.count / 2).map {
            Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self))
        }
    }

    /// The samples as fractions of full scale, -1 to 1.
    private func levels(of bytes: UnsafeRawBufferPointer) -> [Float] {
        let indices = 0..<bytes.count / sample.byteCount
        switch sample {
        case .s16le:
            return indices.map { index in
                Float(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self))) / 32_768
            }
        case .s32le:
            return indices.map { index in
                Float(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self)))
                    / 2_147_483_648
            }
        case .f32le:
            return indices.map { index in
                let bits = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
                let level = Float(bitPattern: bits)
                return level.isNaN ? 0 : min(max(level, -1), 1)
            }
        }
    }
}

extension Int16 {
    /// - Parameter level: a fraction of full scale, -1 to 1, not NaN.
    fileprivate init(level: Float) { self.init(clamping: Int((level * 32_768).rounded())) }
}

/// Mixes three to eight channels to stereo according to ITU-R BS.775. Channels at one side stay there. Center and surround
/// channels are attenuated by 3 dB, the back center by 6 dB, and the low frequencies of `.1` are dropped. The sum is scaled so
/// that all channels at full scale do not clip.
struct StereoDownmix {
    private enum Channel { case left, right, center, lowFrequencies, surroundLeft, surroundRight, backCenter }

    /// The channel orders of FLAC (RFC 9639) and WAVE files.
    private static let orders: [Int: [Channel]] = [
        3: [.left, .right, .center],
        4: [.left, .right, .surroundLeft, .surroundRight],
        5: [.left, .right, .center, .surroundLeft, .surroundRight],
        6: [.left, .right, .center, .lowFrequencies, .surroundLeft, .surroundRight],
        7: [.left, .right, .center, .lowFrequencies, .backCenter, .surroundLeft, .surroundRight],
        8: [
            .left, .right, .center, .lowFrequencies, .surroundLeft, .surroundRight, .surroundLeft, .surroundRight,
        ],
    ]

    /// Each channel's weight on both sides.
    let weights: [(left: Float, right: Float)]

    /// - Parameter channelCount: 3 to 8. Any other number mixes nothing.
    init(channelCount: Int) {
        let half = Float(0.5).squareRoot()
        let weights = (Self.orders[channelCount] ?? []).map { channel -> (left: Float, right: Float) in
            switch channel {
            case .left: (1, 0)
            case .right: (0, 1)
            case .center: (half, half)
            case .lowFrequencies: (0, 0)
            case .surroundLeft: (half, 0)
            case .surroundRight: (0, half)
            case .backCenter: (0.5, 0.5)
            }
        }
        // Both sides have the same sum.
        let sum = max(weights.reduce(0) { $0 + $1.left }, 1)
        self.weights = weights.map { ($0.left / sum, $0.right / sum) }
    }

    /// - Parameter levels: interleaved, -1 to 1.
    func mix(_ levels: [Float]) -> [Int16] {
        guard !weights.isEmpty else { return [] }
        let frameCount = levels.count / weights.count
        return [Int16](unsafeUninitializedCapacity: 2 * frameCount) { mixed, count in
            for frame in 0..<frameCount {
                var (left, right) = (Float(0), Float(0))
                for (channel, weight) in weights.enumerated() {
                    let level = levels[frame * weights.count + channel]
                    left += weight.left * level
                    right += weight.right * level
                }
                mixed[2 * frame] = Int16(level: left)
                mixed[2 * frame + 1] = Int16(level: right)
            }
            count = 2 * frameCount
        }
    }
}
