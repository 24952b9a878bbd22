import CLinux
import Glibc
import Synchronization

/// Reads a whole file: a regular one, a FIFO to its end, or one of /proc and /sys.
/// - Throws: `EFBIG` when it holds more than `limit` bytes.
public func readFile(_ path: String, limit: Int) throws(SystemCallError) -> [UInt8] {
    do throws(SystemCallError) {
        return try OwnedFileDescriptor(opening: path, flags: O_RDONLY).readAll(limit: limit)
    } catch {
        throw error.about(path)
    }
}

/// Reads a whole regular file, and never waits: not for a FIFO's writer, either.
/// - Throws: `EFBIG` when it holds more than `limit` bytes, `EISDIR` for a directory, `EINVAL` for what else is no
///   regular file.
public func readRegularFile(_ path: String, limit: Int) throws(SystemCallError) -> [UInt8] {
    // A disk answers when it likes: that is not the calling thread's fault.
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

/// When a file was changed last, in UNIX seconds; `nil` when that is unknown.
public func modificationTime(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil
}

/// Whether a path leads to what can be read without waiting for a writer; `nil` when it leads to nothing.
public func isRegularFile(_ path: String) -> Bool? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFREG : nil
}

/// Which regular file a path leads to and in which state, as far as can be seen without reading it.
public struct FileState: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let byteCount: Int64
    /// Of the last change, of the contents and of the file itself, in nanoseconds.
    private let times: [Int64]

    /// - Returns: `nil` where the path leads to no regular file.
    public init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        byteCount = Int64(status.st_size)
        times = [status.st_mtim, status.st_ctim].map { Int64($0.tv_sec) &* 1_000_000_000 &+ Int64($0.tv_nsec) }
    }
}

/// Replaces a file's contents, or makes the file. A reader, and the next start
/// after a power cut, see the old contents or the new, never a part.
/// - Parameters:
///   - permissions: of the new file; ignored where the file system has none.
///   - sparesOthers: what stands there and is no file is not replaced. For paths that somebody types: root could replace
///     /dev/null.
public func replaceFile(
    _ path: String, with contents: [UInt8], permissions: mode_t = 0o644, sparesOthers: Bool = false
) throws(SystemCallError) {
    let separator = path.lastIndex(of: "/")
    let directory = separator.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = separator.map { String(path[path.index(after: $0)...]) } ?? path
    let number = temporaryFileNumber.add(1, ordering: .relaxed).newValue
    let temporary = "\(directory)/.\(name).\(getpid()).\(number).tmp"
    // A disk answers when it likes: that is not the calling thread's fault.
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
        // Left over from a process that had the same number before a power cut, if it is there.
        unlink(temporary)
        let file = try OwnedFileDescriptor(
            opening: temporary, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, permissions: permissions)
        try file.writeAll(contents)
        guard fsync(file.rawValue) == 0 else { throw SystemCallError("fsync") }
        try file.close()
        guard rename(temporary, path) == 0 else { throw SystemCallError("rename") }
    } catch {
        unlink(temporary)
        // A person has named `path`, and has never seen the name of the temporary file.
        throw SystemCallError(error.call, number: error.number, subject: path)
    }
}

private let temporaryFileNumber = Atomic<UInt32>(0)

/// What `replaceFile` leaves of these files when the power goes in the middle, or has under way just now.
/// - Returns: paths.
public func temporaryFiles(of names: [String], in directory: String) -> [String] {
    let present = (try? fileNames(in: directory)) ?? []
    return present.filter { file in names.contains { isTemporary(file, of: $0) } }.map { "\(directory)/\($0)" }
}

/// The names of all that is in a directory, "." and ".." among them, in the file system's order.
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

/// Whether it is `.NAME.PROCESS.NUMBER.tmp`.
private func isTemporary(_ file: String, of name: String) -> Bool {
    guard file.hasPrefix(".\(name)."), file.hasSuffix(".tmp") else { return false }
    let words = file.dropFirst(name.utf8.count + 2).dropLast(4).split(separator: ".", omittingEmptySubsequences: false)
    return words.count == 2 && words.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

/// Writes what the kernel still holds of the directory's file system, and of no other.
public func synchronizeFileSystem(_ directory: String) throws(SystemCallError) {
    let descriptor = try OwnedFileDescriptor(opening: directory, flags: O_RDONLY | O_DIRECTORY)
    guard clinux_syncfs(descriptor.rawValue) == 0 else { throw SystemCallError("syncfs", subject: directory) }
}

/// Makes a rename last through a power cut.
private func synchronizeDirectory(_ path: String) throws(SystemCallError) {
    let directory = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
    // File systems that cannot do this (FAT among them, on some kernels) say EINVAL.
    guard fsync(directory.rawValue) == 0 || errno == EINVAL else { throw SystemCallError("fsync", subject: path) }
}

extension SystemCallError {
    /// An error of `readRegularFile`, in words for people. It throws EINVAL for a file that is not a regular file.
    public var fileProblem: String {
        guard call == "read", number == EINVAL, let subject else { return description }
        return "\(subject) is not a regular file"
    }

    /// The same error with the path in front of what the call itself knew.
    fileprivate func about(_ path: String) -> SystemCallError {
        guard let subject, subject != path else { return SystemCallError(call, number: number, subject: path) }
        return SystemCallError(call, number: number, subject: "\(path) (\(subject))")
    }
}

/// Writes what can be written: when nobody reads any more, there is nobody to tell.
public func write(_ bytes: [UInt8], to descriptor: Int32) { try? writeAll(bytes, to: descriptor) }

/// Writes everything to a descriptor that is another's, waiting as long as it takes.
public func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemCallError) {
    try bytes.withBytes { bytes throws(SystemCallError) in
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw SystemCallError("write") }
            rest = rest.dropFirst(count)
        }
    }
}
