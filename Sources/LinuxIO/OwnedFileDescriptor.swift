import Glibc

/// An open file descriptor with one owner. Going out of scope closes it.
public struct OwnedFileDescriptor: ~Copyable, Sendable {
    /// The number, for calls that borrow it. It is valid as long as the owner lives.
    public let rawValue: Int32

    /// Takes ownership of an open descriptor.
    public init(adopting rawValue: Int32) { self.rawValue = rawValue }

    /// Opens a file; close-on-exec is always set.
    /// - Parameters:
    ///   - flags: `O_RDONLY` and so on (open(2)).
    ///   - permissions: for a file that the call makes, before the umask.
    public init(
        opening path: String, flags: Int32, permissions: mode_t = 0o644
    ) throws(SystemCallError) {
        var result: Int32
        repeat { result = open(path, flags | O_CLOEXEC, permissions) } while result < 0 && errno == EINTR
        guard result >= 0 else { throw SystemCallError("open", subject: path) }
        self.init(adopting: result)
    }

    deinit { _ = Glibc.close(rawValue) }

    /// Closes and reports what `deinit` cannot: a delayed write error.
    public consuming func close() throws(SystemCallError) {
        let descriptor = rawValue
        discard self
        // After EINTR Linux has closed the descriptor already; trying again could hit another file's.
        guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw SystemCallError("close") }
    }

    /// Gives the ownership away.
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

    /// Makes calls on the open file return at once instead of waiting.
    public borrowing func setNonBlocking(_ enabled: Bool = true) throws(SystemCallError) {
        let flags = fcntl(rawValue, F_GETFL, 0)
        guard flags >= 0 else { throw SystemCallError("fcntl", subject: "F_GETFL") }
        guard fcntl(rawValue, F_SETFL, enabled ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) == 0 else {
            throw SystemCallError("fcntl", subject: "F_SETFL")
        }
    }
}

extension OwnedFileDescriptor {
    /// Reads what is there, waiting for at least one byte unless the file is non-blocking.
    /// - Returns: bytes read, 0 at the end of the file.
    /// - Throws: also `EAGAIN` from a non-blocking file that has nothing now.
    public borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        var count: Int
        repeat { count = Glibc.read(rawValue, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw SystemCallError("read") }
        return count
    }

    /// As `read(into:)`, but `nil` when a non-blocking file has nothing now.
    public borrowing func readIfReady(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int? {
        do {
            return try read(into: buffer)
        } catch {
            if error.number == EAGAIN { return nil }
            throw error
        }
    }

    /// Fills the buffer, waiting as long as it takes.
    /// - Returns: bytes read: fewer than the buffer holds only at the end of the file.
    public borrowing func readAll(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Reads to the end of the file, whatever `stat` says its size is: files of
    /// /proc and /sys and FIFOs have none.
    /// - Throws: `EFBIG` when there are more than `limit` bytes.
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

    /// Makes the file so long: what is behind is lost.
    public borrowing func truncate(to byteCount: Int) throws(SystemCallError) {
        guard ftruncate(rawValue, off_t(byteCount)) == 0, lseek(rawValue, off_t(byteCount), SEEK_SET) >= 0 else {
            throw SystemCallError("ftruncate")
        }
    }

    /// Writes what fits, waiting for room for at least one byte unless the file is non-blocking.
    /// - Returns: bytes written.
    public borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        var count: Int
        repeat { count = Glibc.write(rawValue, bytes.baseAddress, bytes.count) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw SystemCallError("write") }
        return count
    }

    /// Writes everything, waiting as long as it takes.
    public borrowing func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SystemCallError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = try write(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Writes everything at a place in the file, and leaves the place of other calls as it is.
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

    /// Writes everything, waiting as long as it takes.
    public borrowing func writeAll(_ bytes: [UInt8]) throws(SystemCallError) {
        try bytes.withBytes { bytes throws(SystemCallError) in try writeAll(bytes) }
    }
}
