import DevicePorts
import Glibc
import LinuxIO
import Media

/// Why a V4L2 device cannot be used.
public enum V4L2Error: Error, Hashable, Sendable {
    case missing(path: String)
    case forbidden(path: String)
    /// Another program uses it.
    case busy(path: String)
    /// The device exists but cannot capture; the text says what it is.
    case wrongKind(path: String, reason: String)
    /// It was unplugged, or its driver is gone.
    case gone(path: String)
    /// The device has no usable format; the list shows what it offers.
    case noUsableFormat(path: String, asked: String, offered: String)
    /// The camera has no control of this name; the list shows which it has.
    case unknownControl(path: String, name: String, offered: String)
    /// The value does not fit; `possible` shows what does.
    case badControlValue(path: String, name: String, value: String, possible: String)
    case conversionFailed(path: String, reason: String)
    /// A driver call has not returned for this long.
    case blocked(path: String, Duration)
    case failed(path: String, SystemCallError)

    /// Wraps the error of a call on the device.
    init(_ path: String, _ error: SystemCallError) {
        switch error.number {
        case ENOENT where error.call == "open": self = .missing(path: path)
        // From other calls, EPERM may be a firmware status.
        case EACCES where error.call == "open", EPERM where error.call == "open": self = .forbidden(path: path)
        case EBUSY: self = .busy(path: path)
        case ENODEV, ENXIO: self = error.call == "open" ? .missing(path: path) : .gone(path: path)
        case ENOTTY: self = .wrongKind(path: path, reason: "it is not a video device")
        default: self = .failed(path: path, error)
        }
    }
}

extension V4L2Error: CameraFailure {
    /// USB cameras share the bus's bandwidth. A second camera that gets none fails at its start with ENOSPC.
    public var mayBeContention: Bool {
        switch self {
        case .busy: true
        case .failed(_, let error): [ENOSPC, ENOMEM].contains(error.number)
        default: false
        }
    }
}

extension V4L2Error: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing(let path):
            "there is no camera at \(path); is it plugged in? tallycam cameras lists those found"
        case .forbidden(let path):
            "\(path) cannot be opened: permission denied; run as root or join the group that owns it (video)"
        case .busy(let path): "\(path) is in use by another program; close it first"
        case .wrongKind(let path, let reason): "\(path) is not a camera: \(reason)"
        case .gone(let path): "the camera at \(path) is gone"
        case .noUsableFormat(let path, let asked, let offered): "\(path) has no \(asked); it has \(offered)"
        case .unknownControl(let path, let name, let offered):
            "\(path) has no control \"\(name)\"; it has \(offered.isEmpty ? "none" : offered)"
        case .badControlValue(let path, let name, let value, let possible):
            "\(name) of \(path) must be \(possible), not \"\(value)\""
        case .conversionFailed(let path, let reason): "a frame of \(path) cannot be decoded: \(reason)"
        case .blocked(let path, let duration):
            "the driver of \(path) has not answered for \(duration); plug the camera in again, or restart the machine"
        case .failed(let path, let error): "\(path): \(error)"
        }
    }
}

extension V4L2Error {
    /// How long a driver may take to answer about a camera.
    static let answerTimeout = Duration.seconds(3)

    /// Runs calls that may hang on a separate thread.
    /// - Throws: what `body` throws, or `blocked`.
    static func bounded<Value>(
        _ path: String, timeout: Duration = answerTimeout,
        _ body: @escaping @Sendable () -> sending Result<Value, V4L2Error>
    ) throws(V4L2Error) -> sending Value {
        let answer: Result<Value, V4L2Error>
        do {
            answer = try NodeOccupancy.call(of: path, timeout: timeout, body)
        } catch {
            switch error {
            case .blocked(let path, let duration): throw .blocked(path: path, duration)
            case .failed(let path, let error): throw .failed(path: path, error)
            }
        }
        return try answer.get()
    }
}
