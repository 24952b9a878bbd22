import Bitstream
import Glibc
import LinuxIO
import RecordingLogic

/// Files of the kernel.
public struct LinuxRecordingDisk: RecordingDisk {
    public init() {}

    public func mountPoints(in folder: String) throws(SystemCallError) -> [String] {
        var parent = stat()
        // Without the folder, nothing can be mounted in it.
        guard stat(folder, &parent) == 0 else { return [] }
        return try fileNames(in: folder).sorted().map { "\(folder)/\($0)" }.filter { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_dev != parent.st_dev
        }
    }

    public func unmount(_ path: String) throws(SystemCallError) {
        guard umount2(path, 0) == 0 else { throw SystemCallError("umount", subject: path) }
    }

    public func prepare(_ folder: String) throws(SystemCallError) {
        // The parent must exist: if a stick is not mounted, its recordings would end up on the disk below.
        guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { throw SystemCallError("mkdir", subject: folder) }
        // The next call must not find out in the middle of a recording.
        guard access(folder, W_OK) == 0 else { throw SystemCallError("access", subject: folder) }
    }

    public func recordings(in folder: String) throws(SystemCallError) -> [RecordingFolder.File] {
        try fileNames(in: folder).compactMap { file in
            guard let name = RecordingName(file) else { return nil }
            var status = stat()
            guard lstat("\(folder)/\(file)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return RecordingFolder.File(name, byteCount: Int(status.st_size))
        }
    }

    public func space(of folder: String) throws(SystemCallError) -> RecordingFolder.Space {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { throw SystemCallError("statvfs", subject: folder) }
        let (total, isTooLarge) = UInt64(status.f_blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return RecordingFolder.Space(
            byteCount: isTooLarge ? .max : Int(clamping: total), freeByteCount: freeByteCount(at: folder) ?? 0)
    }

    public func create(_ path: String) throws(SystemCallError) -> any RecordingFile {
        try LinuxRecordingFile(path, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    }

    public func open(_ path: String) throws(SystemCallError) -> any RecordingFile {
        try LinuxRecordingFile(path, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK)
    }

    public func synchronize(_ folder: String) throws(SystemCallError) { try synchronizeDirectory(folder) }

    public func remove(_ path: String) throws(SystemCallError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemCallError("unlink", subject: path) }
    }

    public func append(_ bytes: [UInt8], to path: String, creates: Bool) throws(SystemCallError) {
        let file = try OwnedFileDescriptor(
            opening: path, flags: O_WRONLY | O_APPEND | O_NOFOLLOW | (creates ? O_CREAT : 0))
        do throws(SystemCallError) {
            try file.writeAll(bytes)
            // A stick's file system may otherwise keep an empty file through a power cut.
            guard fdatasync(file.rawValue) == 0 else { throw SystemCallError("fdatasync", subject: path) }
        } catch {
            throw SystemCallError(error.call, number: error.number, subject: path)
        }
    }
}

/// A recording that is written, or repaired.
public final class LinuxRecordingFile: RecordingFile {
    /// Small packets are written together.
    private static let blockByteCount = 64 * 1024

    private let path: String
    private let file: OwnedFileDescriptor

    /// - Parameter flags: of `open`.
    public init(_ path: String, flags: Int32) throws(SystemCallError) {
        self.path = path
        file = try OwnedFileDescriptor(opening: path, flags: flags)
    }

    public var byteCount: Int {
        get throws(SystemCallError) {
            var status = stat()
            guard fstat(file.rawValue, &status) == 0 else { throw SystemCallError("fstat", subject: path) }
            return Int(status.st_size)
        }
    }

    public func read(at offset: Int, count: Int) throws(SystemCallError) -> [UInt8] {
        var filled = 0
        var problem: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let got = pread(file.rawValue, rest.baseAddress, rest.count, off_t(offset + filled))
                if got < 0, errno == EINTR { continue }
                guard got > 0 else {
                    problem = got < 0 ? errno : EIO
                    break
                }
                filled += got
            }
            initializedCount = filled
        }
        guard let problem else { return bytes }
        throw SystemCallError("pread", number: problem, subject: path)
    }

    public func perform(_ step: MP4FileStep) throws(SystemCallError) {
        switch step {
        case .write(let pieces, let offset):
            do throws(SystemCallError) {
                try write(pieces, at: offset)
            } catch {
                throw SystemCallError(error.call, number: error.number, subject: path)
            }
        case .truncate(let length):
            guard ftruncate(file.rawValue, off_t(length)) == 0 else {
                throw SystemCallError("ftruncate", subject: path)
            }
        case .synchronize:
            guard fdatasync(file.rawValue) == 0 else { throw SystemCallError("fdatasync", subject: path) }
        }
    }

    private func write(_ pieces: [[UInt8]], at start: Int) throws(SystemCallError) {
        var offset = start
        var block: [UInt8] = []
        for piece in pieces {
            if block.count + piece.count > Self.blockByteCount, !block.isEmpty {
                try file.writeAll(block, at: offset)
                offset += block.count
                block.removeAll(keepingCapacity: true)
            }
            guard piece.count < Self.blockByteCount else {
                try file.writeAll(piece, at: offset)
                offset += piece.count
                continue
            }
            block += piece
        }
        try file.writeAll(block, at: offset)
    }
}
