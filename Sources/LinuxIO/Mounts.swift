import CLinux
import Glibc

/// Whether a directory's file system is mounted read-only.
public func isReadOnly(_ path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && status.f_flag & UInt(clinux_read_only_flag) != 0
}

/// What a file system has free for this process, in bytes; `nil` where it does not say.
/// - Parameter path: of any file or directory on it.
public func freeByteCount(at path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    // Some keep a part for root.
    let blockCount = geteuid() == 0 ? status.f_bfree : status.f_bavail
    let (count, isTooLarge) = UInt64(blockCount).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooLarge ? .max : Int(clamping: count)
}

/// Makes a mounted file system writable, or read-only again. Access to it stays as restricted as it was for a card:
/// no devices, no programs.
public func remount(_ path: String, isReadOnly: Bool) throws(SystemCallError) {
    var flags = UInt(MS_REMOUNT | MS_NOATIME | MS_NOSUID | MS_NODEV)
    flags |= UInt(MS_NOEXEC) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    guard mount("none", path, nil, flags, nil) == 0 else { throw SystemCallError("mount", subject: path) }
}
