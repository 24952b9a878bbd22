import DevicePorts
import Media

/// Why the audio encoder cannot continue.
public enum AudioEncodingError: Error, Hashable, Sendable {
    /// The sample rate is not supported, or there are more than two channels.
    case unsupportedFormat(AudioFormat)
    /// The encoder supports no bit rate near this one for the format. `nearest` is the one it would use.
    case unsupportedBitrate(Bitrate, format: AudioFormat, nearest: Bitrate)
    /// The block's samples do not form whole frames (one sample per channel).
    case brokenBlock(sampleCount: Int, channelCount: Int)
    /// A library call failed; `status` is its AACENC_ERROR.
    case libraryFailed(call: String, status: UInt32)
}

extension AudioEncodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedFormat(let format):
            "AAC takes 1 or 2 channels at "
                + AACEncoder.sampleRates.map { "\($0)" }.joined(separator: ", ")
                + " Hz, not \(format.channelCount) at \(format.sampleRate) Hz"
        case .unsupportedBitrate(let bitrate, let format, let nearest):
            "AAC at \(format.sampleRate) Hz with \(format.channelCount) channels does not support "
                + "\(bitrate.bitsPerSecond) bit/s, the nearest is \(nearest.bitsPerSecond) bit/s; "
                + "use a higher sample rate or another audio quality"
        case .brokenBlock(let sampleCount, let channelCount):
            "an audio block of \(sampleCount) samples does not divide into \(channelCount) channels"
        case .libraryFailed(let call, let status):
            "fdk-aac's \(call) failed with status 0x" + String(status, radix: 16)
        }
    }
}
