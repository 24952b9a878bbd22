import DevicePorts
import Media

/// Why the software encoder cannot continue.
public enum VideoEncodingError: Error, Hashable, Sendable {
    /// The frame is too small, too large for the level, or has an odd side, which 4:2:0 cannot crop to.
    case unsupportedSize(FrameSize)
    /// The rate is higher than the encoder's counters allow.
    case unsupportedFrameRate(FrameRate)
    /// The level does not allow this many bits, frames or macroblocks per second.
    case levelExceeded(H264Level, size: FrameSize, frameRate: FrameRate, bitrate: Bitrate)
    /// The frame's memory is smaller than its layout requires.
    case incompleteFrame(FrameLayout, byteCount: Int)
    /// The encoder's parameter sets have another profile_idc or level_idc than requested.
    case unexpectedParameterSet(field: String, asked: UInt8, written: UInt8)
    /// A library call failed. `reason` is the library's log message about it, if any.
    case libraryFailed(call: String, status: Int, reason: String?)
}

extension VideoEncodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedSize(let size):
            "the software encoder accepts frames of even width and height from 16x16 to 3840x2160, not \(size); "
                + "choose another size"
        case .unsupportedFrameRate(let rate):
            "the software encoder accepts up to 60 frames per second, not \(rate.framesPerSecond)"
        case .levelExceeded(let level, let size, let rate, let bitrate):
            "H.264 level \(level.name) does not carry \(size) at "
                + "\(rate.framesPerSecond) frames and \(bitrate.bitsPerSecond) bits per second; use a higher level"
        case .incompleteFrame(let layout, let byteCount):
            "a \(layout.size) \(layout.format.rawValue) frame came with \(byteCount) bytes instead of \(layout.byteCount)"
        case .unexpectedParameterSet(let field, let asked, let written):
            "OpenH264 wrote \(field) \(written) instead of \(asked); lower the size, frame rate or bitrate"
        case .libraryFailed(let call, let status, let reason):
            "OpenH264's \(call) failed with status \(status)" + (reason.map { ": \($0)" } ?? "")
        }
    }
}
