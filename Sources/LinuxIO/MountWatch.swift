import Glibc

/// Tells when a disk is mounted or unmounted.
public final class MountWatch {
    private let file: OwnedFileDescriptor

    public init() throws(SystemCallError) {
        file = try OwnedFileDescriptor(opening: "/proc/self/mounts", flags: O_RDONLY)
    }

    /// Ready for `PollEvents.priority` once after each change.
    public var fileDescriptor: Int32 { file.rawValue }
}
