import DevicePorts
import LinuxIO
import Media

/// Why a hardware encoder cannot be used or cannot continue.
public enum HardwareEncodingError: Error, Hashable, Sendable {
    /// No node of this machine encodes H.264.
    case noEncoder
    /// The node is another kind of device; the text says which.
    case notAnEncoder(path: String, reason: String)
    /// Another program uses it, or the driver refuses the format for now.
    case busy(path: String)
    case unsupportedSize(path: String, FrameSize, smallest: FrameSize, largest: FrameSize)
    /// The frame needs a higher level than the encoder supports.
    case levelExceeded(path: String, needed: H264Level?)
    case unsupportedProfile(path: String, H264Profile)
    /// The driver changed the format, and frames cannot be converted to that.
    case formatRefused(path: String, asked: String, given: String)
    case insufficientMemory(path: String, neededKilobytes: Int, availableKilobytes: Int, of: String)
    /// The driver could not get the memory although it seemed to be available.
    /// - Parameter isUnanswered: the firmware gave it no component, without mentioning memory.
    case memoryRefused(path: String, neededKilobytes: Int, isUnanswered: Bool)
    /// A driver call hangs.
    case blocked(path: String, Duration)
    /// The encoder starts and accepts frames but delivers none.
    case silent(path: String, Duration)
    case failed(path: String, SystemCallError)

    init(_ error: V4L2Error, path: String) {
        switch error {
        case .failed(_, let error): self = .failed(path: path, error)
        case .missing: self = .notAnEncoder(path: path, reason: "the device does not exist")
        case .forbidden: self = .notAnEncoder(path: path, reason: "this user may not open it")
        case .busy: self = .busy(path: path)
        case .wrongKind(_, let reason): self = .notAnEncoder(path: path, reason: reason)
        default: self = .notAnEncoder(path: path, reason: "\(error)")
        }
    }
}

extension HardwareEncodingError: EncoderFailure {
    /// Whether a smaller frame size may help.
    public var isLackOfMemory: Bool {
        switch self {
        case .insufficientMemory, .memoryRefused: true
        default: false
        }
    }

    /// Whether it works, but not with frames of this size.
    public var isRefusalOfSize: Bool {
        switch self {
        case .unsupportedSize, .levelExceeded, .formatRefused: true
        default: false
        }
    }

    /// Whether reopening it a moment later may help.
    public var mayPassByItself: Bool {
        switch self {
        case .busy, .blocked, .silent, .failed: true
        default: false
        }
    }

    /// Whether unresponsive firmware may be the reason, which can look like a lack of memory.
    public var mayBeDeadFirmware: Bool {
        switch self {
        case .blocked, .silent, .failed: true
        case .memoryRefused(_, _, let isUnanswered): isUnanswered
        default: false
        }
    }

    /// The Pi's driver starts a stale component without an error, and no frame comes out.
    public var mayBeStale: Bool {
        if case .silent = self { true } else { false }
    }
}

extension HardwareEncodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noEncoder: "this machine has no H.264 encoder (V4L2); use --encoder openh264"
        case .notAnEncoder(let path, let reason): "\(path) cannot encode H.264: \(reason)"
        case .busy(let path): "\(path) cannot encode H.264: it is in use by another program, or refuses the format"
        case .unsupportedSize(let path, let size, let smallest, let largest):
            "\(path) encodes frames of even sides from \(smallest) to \(largest), not \(size)"
        case .levelExceeded(let path, let level):
            "\(path) does not reach level \(level?.name ?? "above 5.1") "
                + "that such frames need; use a smaller size or frame rate"
        case .unsupportedProfile(let path, let profile): "\(path) has no H.264 profile \(profile)"
        case .formatRefused(let path, let asked, let given): "\(path) gave \(given) instead of \(asked)"
        case .insufficientMemory(let path, let needed, let available, let kind):
            "\(path) needs \(needed) kB for its buffers, and \(available) kB of \(kind) are free; use a smaller size"
        case .memoryRefused(let path, let needed, _):
            "\(path) got no memory for its buffers, \(needed) kB at least, or for its firmware; use a smaller size, "
                + "raise cma= in cmdline.txt, or gpu_mem= in config.txt"
        case .blocked(let path, let duration): "a call of \(path) has not returned for \(duration)"
        case .silent(let path, let duration): "\(path) accepted frames but returned none within \(duration.inSeconds) s"
        case .failed(let path, let error): "\(path): \(error)"
        }
    }
}
