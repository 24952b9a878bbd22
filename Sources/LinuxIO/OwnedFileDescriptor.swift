import Glibc

/// An open file descriptor with one owner. Going out of scope closes it.
public struct OwnedFileDescriptor: ~Copyable, Sendable {
    /// The number, for calls that borrow it. Valid while the owner lives.
    public let rawValue: Int32

    /// Takes ownership of an open descriptor.
    public init(adopting rawValue: Int32) { self.rawValue = rawValue }

    /// Opens a file; close-on-exec is always set.
    /// - Parameters:
    ///   - flags: `O_RDONLY` and so on (open(2)).
    ///   - permissions: of a file that the call creates, before the umask.
    public init(
        opening path: String, flags: Int32, permissions: mode_t = 0o644
    ) throws(SystemCallError) {
        var result: Int32
        repeat { result = open(path, flags | O_CLOEXEC, permissions) } while result < 0 && errno == EINTR
        guard result >= 0 else { throw SystemCallError("open", subject: path) }
        self.init(adopting: result)
    }

    deinit { _ = Glibc.close(rawValue) }

    /// Closes the file and reports a delayed write error, which `deinit` cannot do.
    public consuming func close() throws(SystemCallError) {
        let descriptor = rawValue
        discard self
        // Linux has closed the descriptor even after EINTR. A second close could hit another file.
        guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw SystemCallError("close") }
    }

    /// Gives up ownership.
    public consuming func release() -> Int32 {
        let descriptor = rawValue
        discard self
        return descriptor
    }

    /// A second descriptor of the same open file.
    public borrowing func duplicate() throws(SystemCallError) -> OwnedFileDescriptor {
        let copy = fcntl(rawValue, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemCallError("fcntl", subject: "F_DUPFD_CLOEXEC") }
        return OwnedFileDescriptor(adopting: copy)
    }

    /// Makes calls on the open file return at once instead of blocking.
    public borrowing func setNonBlocking(_ enabled: Bool = true) throws(SystemCallError) {
        let flags = fcntl(rawValue, F_GETFL, 0)
        guard flags >= 0 else { throw SystemCallError("fcntl", subject: "F_GETFL") }
        guard fcntl(rawValue, F_SETFL, enabled ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) == 0 else {
            throw SystemCallError("fcntl", subject: "F_SETFL")
        }
    }
}

extension OwnedFileDescriptor {
    /// Reads what is available. Unless the file is non-blocking, waits for at least one byte.
    /// - Returns: bytes read, 0 at the end of the file.
    /// - Throws: also `EAGAIN` if a non-blocking file has nothing now.
    public borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        var count: Int
        repeat { count = Glibc.read(rawValue, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw SystemCallError("read") }
        return count
    }

    /// Like `read(into:)`, but returns `nil` if a non-blocking file has nothing now.
    public borrowing func readIfReady(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int? {
        do {
            return try read(into: buffer)
        } catch {
            if error.number == EAGAIN { return nil }
            throw error
        }
    }

    /// Fills the buffer, however long it takes.
    /// - Returns: bytes read; fewer than the buffer holds only at the end of the file.
    public borrowing func readAll(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Reads to the end of the file, whatever size `stat` reports: FIFOs and files of /proc and /sys report none.
    /// - Throws: `EFBIG` if there are more than `limit` bytes.
    public borrowing func readAll(limit: Int) throws(SystemCallError) -> [UInt8] {
        var contents: [UInt8] = []
        var block = [UInt8](repeating: 0, count: min(limit, 65_536) + 1)
        while true {
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in try read(into: bytes) }
            if count == 0 { return contents }
            guard contents.count + count <= limit else {
                throw SystemCallError("read", number: EFBIG, subject: "more than \(limit) bytes")
            }
            contents.append(contentsOf: block[..<count])
        }
    }

    /// Cuts the file to this length and continues writing there.
    public borrowing func truncate(to byteCount: Int) throws(SystemCallError) {
        guard ftruncate(rawValue, off_t(byteCount)) == 0, lseek(rawValue, off_t(byteCount), SEEK_SET) >= 0 else {
            throw SystemCallError("ftruncate")
        }
    }

    /// Writes what fits. Unless the file is non-blocking, waits for room for at least one byte.
    /// - Returns: bytes written.
    public borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        var count: Int
        repeat { count = Glibc.write(rawValue, bytes.baseAddress, bytes.count) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw SystemCallError("write") }
        return count
    }

    /// Writes everything, however long it takes.
    public borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SystemCallError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try write(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Writes everything at an offset and leaves the file's own position alone.
    public borrowing func writeAll(_ bytes: [UInt8], at offset: Int) throws(SystemCallError) {
        try bytes.withBytes { bytes throws(SystemCallError) in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = pwrite(rawValue, rest.baseAddress, rest.count, off_t(offset + written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw SystemCallError("pwrite") }
                written += count
            }
        }
    }

    /// Writes everything, however long it takes.
    public borrowing func writeAll(_ bytes: [UInt8]) throws(SystemCallError) {
        try bytes.withBytes { bytes throws(SystemCallError) in try writeAll(bytes) }
    }
}
