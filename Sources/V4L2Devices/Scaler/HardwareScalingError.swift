import LinuxIO
import Media

/// Why a device cannot scale a stream's frames, or cannot continue.
public enum HardwareScalingError: Error, Hashable, Sendable {
    /// It was unplugged, or its driver is gone.
    case gone(path: String)
    /// The driver changed the formats, or has none for such frames.
    case formatRefused(path: String, asked: String, given: String)
    /// The driver cannot read the frames' memory.
    case importRefused(path: String, SystemCallError)
    /// A frame went in but did not come out.
    case silent(path: String, Duration)
    /// The driver marked a frame as corrupt.
    case brokenFrame(path: String)
    case failed(path: String, reason: String)

    init(_ error: V4L2Error, path: String) {
        switch error {
        case .gone, .missing: self = .gone(path: path)
        case .noUsableFormat(_, let asked, let offered):
            self = .formatRefused(path: path, asked: asked, given: offered)
        case .failed(_, let failure) where error.refusesImport: self = .importRefused(path: path, failure)
        case .failed(_, let failure): self = .failed(path: path, reason: "\(failure)")
        case .forbidden: self = .failed(path: path, reason: "this user may not open it")
        case .busy: self = .failed(path: path, reason: "it is in use by another program")
        case .wrongKind(_, let reason): self = .failed(path: path, reason: reason)
        default: self = .failed(path: path, reason: "\(error)")
        }
    }
}

extension HardwareScalingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .gone(let path): "the scaler at \(path) is gone"
        case .formatRefused(let path, let asked, let given): "\(path) has no \(asked); it has \(given)"
        case .importRefused(let path, let error): "\(path) cannot read the camera's memory (\(error))"
        case .silent(let path, let duration): "\(path) accepted frames but returned none within \(duration.inSeconds) s"
        case .brokenFrame(let path): "\(path) gave a faulty frame"
        case .failed(let path, let reason): "\(path) does not scale: \(reason)"
        }
    }
}
