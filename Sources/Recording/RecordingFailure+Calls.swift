import Glibc
import LinuxIO
import RecordingLogic

extension RecordingFailure {
    /// The meaning of a failed call for a recording.
    init(_ error: SystemCallError) { self.init(Self.kind(error), "\(error)") }

    private static func kind(_ error: SystemCallError) -> Kind {
        switch error.number {
        case ENOSPC, EDQUOT: .noSpace
        case EROFS: .readOnly
        case EIO, EUCLEAN, EBADF: .broken
        case ENOENT, ENOTDIR, ENODEV, ENXIO, ENOMEDIUM, ESTALE: .missing
        default: .other
        }
    }
}
