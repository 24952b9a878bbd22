import CLinux
import Glibc
import Synchronization

/// Reads a whole regular file, a FIFO to its end, or a file of /proc or /sys.
/// - Throws: `EFBIG` when it holds more than `limit` bytes.
public func readFile(_ path: String, limit: Int) throws(SystemCallError) -> [UInt8] {
    do throws(SystemCallError) {
        return try OwnedFileDescriptor(opening: path, flags: O_RDONLY).readAll(limit: limit)
    } catch {
        throw error.about(path)
    }
}

/// Reads a whole regular file. Never waits for the writer of a FIFO.
/// - Throws: `EFBIG` when it holds more than `limit` bytes, `EISDIR` for a directory, `EINVAL` for anything else that is not a
///   regular file.
public func readRegularFile(_ path: String, limit: Int) throws(SystemCallError) -> [UInt8] {
    // A disk may take any time; the watchdog must not blame the calling thread.
    try ThreadActivity.wait { () throws(SystemCallError) in try readWhole(path, limit: limit) }
}

private func readWhole(_ path: String, limit: Int) throws(SystemCallError) -> [UInt8] {
    do throws(SystemCallError) {
        let file = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw SystemCallError("fstat") }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else { throw SystemCallError("read", number: kind == S_IFDIR ? EISDIR : EINVAL) }
        return try file.readAll(limit: limit)
    } catch {
        throw error.about(path)
    }
}

/// When the file was last modified, in UNIX seconds; `nil` if unknown.
public func modificationTime(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil
}

/// Whether the path can be read without waiting for a writer; `nil` if nothing is there.
public func isRegularFile(_ path: String) -> Bool? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFREG : nil
}

/// Identifies a regular file and its version, as far as stat(2) shows them.
public struct FileState: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let byteCount: Int64
    /// Times of the last modification and the last status change, in nanoseconds.
    private let times: [Int64]

    /// - Returns: `nil` unless the path leads to a regular file.
    public init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        byteCount = Int64(status.st_size)
        times = [status.st_mtim, status.st_ctim].map { Int64($0.tv_sec) &* 1_000_000_000 &+ Int64($0.tv_nsec) }
    }
}

/// Creates a file or replaces its contents. A reader, or the next start after a power cut, sees either the old contents or the
/// new, never a mixture.
/// - Parameters:
///   - permissions: of the new file; ignored where the file system has none.
///   - sparesOthers: refuse to replace anything but a regular file. For paths that a person types: root could replace
///     /dev/null.
public func replaceFile(
    _ path: String, with contents: [UInt8], permissions: mode_t = 0o644, sparesOthers: Bool = false
) throws(SystemCallError) {
    let separator = path.lastIndex(of: "/")
    let directory = separator.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = separator.map { String(path[path.index(after: $0)...]) } ?? path
    let number = temporaryFileNumber.add(1, ordering: .relaxed).newValue
    let temporary = "\(directory)/.\(name).\(getpid()).\(number).tmp"
    // A disk may take any time; the watchdog must not blame the calling thread.
    try ThreadActivity.wait { () throws(SystemCallError) in
        if sparesOthers { try refuseOthers(path) }
        try write(contents, to: temporary, insteadOf: path, permissions: permissions)
        try synchronizeDirectory(directory)
    }
}

private func refuseOthers(_ path: String) throws(SystemCallError) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    if status.st_mode & S_IFMT == S_IFDIR { throw SystemCallError("replace", number: EISDIR, subject: path) }
    throw SystemCallError("replace", number: EEXIST, subject: "\(path), which is not a regular file")
}

private func write(
    _ contents: [UInt8], to temporary: String, insteadOf path: String, permissions: mode_t
) throws(SystemCallError) {
    do throws(SystemCallError) {
        // A process with the same number may have left it behind before a power cut.
        unlink(temporary)
        let file = try OwnedFileDescriptor(
            opening: temporary, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: permissions)
        try file.writeAll(contents)
        guard fsync(file.rawValue) == 0 else { throw SystemCallError("fsync") }
        try file.close()
        guard rename(temporary, path) == 0 else { throw SystemCallError("rename") }
    } catch {
        unlink(temporary)
        // The user gave `path` and has never seen the name of the temporary file.
        throw SystemCallError(error.call, number: error.number, subject: path)
    }
}

private let temporaryFileNumber = Atomic<UInt32>(0)

/// The files that `replaceFile` left behind at a power cut, or is writing right now.
/// - Returns: paths.
public func temporaryFiles(of names: [String], in directory: String) -> [String] {
    let present = (try? fileNames(in: directory)) ?? []
    return present.filter { file in names.contains { isTemporary(file, of: $0) } }.map { "\(directory)/\($0)" }
}

/// The names of all entries of a directory, including "." and "..", in the file system's order.
public func fileNames(in directory: String) throws(SystemCallError) -> [String] {
    guard let listing = opendir(directory) else { throw SystemCallError("opendir", subject: directory) }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
        names.append(
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            })
    }
    return names
}

/// Whether the name has the form `.NAME.PROCESS.NUMBER.tmp`.
private func isTemporary(_ file: String, of name: String) -> Bool {
    guard file.hasPrefix(".\(name)."), file.hasSuffix(".tmp") else { return false }
    let words = file.dropFirst(name.utf8.count + 2).dropLast(4).split(separator: ".", omittingEmptySubsequences: false)
    return words.count == 2 && words.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

/// Writes out what the kernel still buffers for this directory's file system, and for no other.
public func synchronizeFileSystem(_ directory: String) throws(SystemCallError) {
    let descriptor = try OwnedFileDescriptor(opening: directory, flags: O_RDONLY | O_DIRECTORY)
    guard clinux_syncfs(descriptor.rawValue) == 0 else { throw SystemCallError("syncfs", subject: directory) }
}

/// Makes created, renamed and removed names survive a power cut.
public func synchronizeDirectory(_ path: String) throws(SystemCallError) {
    let directory = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
    // File systems that cannot do this return EINVAL (FAT does on some kernels).
    guard fsync(directory.rawValue) == 0 || errno == EINVAL else { throw SystemCallError("fsync", subject: path) }
}

extension SystemCallError {
    /// An error of `readRegularFile` in words. That function throws EINVAL for anything but a regular file.
    public var fileProblem: String {
        guard call == "read", number == EINVAL, let subject else { return description }
        return "\(subject) is not a regular file"
    }

    /// The same error with the path in front of its former subject.
    fileprivate func about(_ path: String) -> SystemCallError {
        guard let subject, subject != path else { return SystemCallError(call, number: number, subject: path) }
        return SystemCallError(call, number: number, subject: "\(path) (\(subject))")
    }
}

/// Writes as much as possible. If the reader is gone, the rest is discarded silently.
public func write(_ bytes: [UInt8], to descriptor: Int32) { try? writeAll(bytes, to: descriptor) }

/// Writes everything to a borrowed descriptor, however long it takes.
public func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemCallError) {
    // The closure returns an error number: if it threw, the runtime would build generic metadata for it at each start.
    let problem: Int32 = bytes.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            rest = rest.dropFirst(count)
        }
        return 0
    }
    guard problem == 0 else { throw SystemCallError("write", number: problem) }
}
