import Bitstream
import Glibc
import LinuxIO
import StreamLogic

/// An FLV file that grows while a publisher sends. It holds whole tags only, also when
/// the program or the disk ends.
final class FLVRecording {
    let path: String
    private let file: OwnedFileDescriptor
    /// Up to here the file holds whole tags.
    private var byteCount = 0

    /// Makes the file, or empties it.
    init(path: String) throws {
        self.path = path
        file = try Self.open(path, flags: O_TRUNC)
        try append(FLVWriter.header(hasAudio: true, hasVideo: true))
    }

    /// Throws what would hinder a recording; leaves an earlier one as it is.
    static func check(path: String) throws {
        _ = try open(path, flags: 0)
    }

    func append(_ tag: FLVTag) throws {
        let bytes: [UInt8]
        do {
            bytes = try FLVWriter.bytes(of: tag)
        } catch {
            throw StreamFailure(.recording, "\(path): \(error)")
        }
        try append(bytes)
    }

    private func append(_ bytes: [UInt8]) throws {
        do {
            try file.writeAll(bytes)
        } catch {
            // What was written of the tag before the disk was full.
            try? file.truncate(to: byteCount)
            throw Self.failure(path, error)
        }
        byteCount += bytes.count
    }

    private static func open(_ path: String, flags: Int32) throws -> OwnedFileDescriptor {
        let file: OwnedFileDescriptor
        do {
            // Opening a pipe would otherwise wait for its reader, where no signal could end it.
            file = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_NONBLOCK | flags)
        } catch {
            throw failure(path, error)
        }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw failure(path, SystemCallError("fstat")) }
        guard status.st_mode & S_IFMT != S_IFIFO else { throw failure(path, SystemCallError("open", number: ENXIO)) }
        return file
    }

    private static func failure(_ path: String, _ error: SystemCallError) -> StreamFailure {
        let advice =
            switch error.number {
            case ENOSPC, EDQUOT: "; free some space or record elsewhere"
            case ENOENT: "; make the directory first"
            case EISDIR: "; name a file in it"
            case ENXIO: ": it is a pipe; name a file"
            case EACCES, EPERM, EROFS: "; name a file that may be written"
            default: ""
            }
        return StreamFailure(.recording, "recording to \(path) failed: \(error.reason)\(advice)")
    }
}
