import CLinux
import Glibc

/// Whether a directory's file system is mounted read-only.
public func isReadOnly(_ path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && status.f_flag & UInt(clinux_read_only_flag) != 0
}

/// Bytes that this process may still use on a file system; `nil` if unknown.
/// - Parameter path: any file or directory on that file system.
public func freeByteCount(at path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    // Some file systems reserve blocks for root.
    let blockCount = geteuid() == 0 ? status.f_bfree : status.f_bavail
    let (count, isTooLarge) = UInt64(blockCount).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooLarge ? .max : Int(clamping: count)
}

/// Remounts a card's file system writable or read-only. Devices and programs on it stay disabled.
public func remount(_ path: String, isReadOnly: Bool) throws(SystemCallError) {
    var flags = UInt(MS_REMOUNT | MS_NOATIME | MS_NOSUID | MS_NODEV)
    flags |= UInt(MS_NOEXEC) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    guard mount("none", path, nil, flags, nil) == 0 else { throw SystemCallError("mount", subject: path) }
}
