import DevicePorts
import Glibc
import LinuxIO

/// Why a libcamera camera cannot be used.
public enum CameraError: Error, Hashable, Sendable {
    /// There is no camera at all; `reason` says what is missing.
    case none(asked: String, reason: String)
    /// None of the cameras matches the request.
    case noMatch(asked: String, offered: String)
    /// Like `noMatch`, but the camera may be in use, or this user may not open it.
    case noMatchExplained(asked: String, offered: String, note: String)
    case forbidden(camera: String)
    /// Another program uses it.
    case busy(camera: String)
    /// It was unplugged, or its driver is gone.
    case gone(camera: String)
    /// There is no tuning file of that name.
    case noTuning(camera: String, name: String, directory: String)
    /// The camera has no format that an encoder accepts.
    case unsupportedFormat(camera: String, format: String)
    /// The camera does not offer the requested format.
    case formatNotOffered(camera: String, format: String, offered: String)
    case unknownControl(camera: String, name: String, offered: String)
    case badControlValue(camera: String, name: String, value: String, possible: String)
    /// A libcamera call failed with an error number.
    case failed(camera: String, call: String, number: Int32)

    init(_ camera: String, _ call: String, _ status: Int32) {
        switch -status {
        case EBUSY: self = .busy(camera: camera)
        case EACCES, EPERM: self = .forbidden(camera: camera)
        case ENODEV: self = .gone(camera: camera)
        default: self = .failed(camera: camera, call: call, number: -status)
        }
    }
}

extension CameraError: CameraFailure {
    public var mayBeContention: Bool {
        switch self {
        case .busy: true
        case .failed(_, _, let number): [ENOSPC, ENOMEM].contains(number)
        default: false
        }
    }
}

extension CameraError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .none("", let reason): "no camera found: \(reason)"
        case .none(let asked, let reason): "there is no camera \"\(asked)\": \(reason)"
        case .noMatch(let asked, let offered):
            "there is no camera \"\(asked)\"; there is \(offered)"
        case .noMatchExplained(let asked, let offered, let note):
            "there is no camera \"\(asked)\" to be had: \(note); there is \(offered)"
        case .noTuning(let camera, let name, let directory):
            "the camera \(camera) cannot be tuned as \"\(name)\": there is no such file in \(directory)"
        case .forbidden(let camera):
            "the camera \(camera) cannot be opened: permission denied; run as root or join the group video"
        case .busy(let camera): "the camera \(camera) is in use by another program; close it first"
        case .gone(let camera): "the camera \(camera) is gone, or its driver gave up"
        case .unsupportedFormat(let camera, let format):
            "the camera \(camera) delivers \(format) frames, which no encoder accepts"
        case .formatNotOffered(let camera, let format, let offered):
            "the camera \(camera) gives no \(format); it gives \(offered)"
        case .unknownControl(let camera, let name, let offered):
            "the camera \(camera) has no control \"\(name)\"; it has \(offered.isEmpty ? "none" : offered)"
        case .badControlValue(let camera, let name, let value, let possible):
            "\(name) of the camera \(camera) must be \(possible), not \"\(value)\""
        case .failed(let camera, let call, let number):
            "the camera \(camera): \(call): \(SystemCallError.reason(of: number))"
        }
    }
}
