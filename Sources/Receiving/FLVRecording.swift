import Bitstream
import Glibc
import LinuxIO
import RTMP
import StreamLogic

/// An FLV file that grows while a publisher sends. It always contains only whole tags, even if the program crashes or the disk
/// fills up. Its first tag is `onMetaData`, into which `finish` writes duration and size.
final class FLVRecording: StreamRecording {
    let path: String
    private let file: OwnedFileDescriptor
    /// Length of the whole tags in the file.
    private var byteCount = 0
    private var totals: RecordingTotals?

    /// Creates the file, or empties it.
    /// - Parameter overwrites: whether a non-empty file may be replaced.
    init(path: String, overwrites: Bool) throws {
        self.path = path
        file = try Self.open(path, flags: overwrites ? O_TRUNC : 0)
        if !overwrites, Self.holdsSomething(path) { throw Self.failure(path, SystemCallError("open", number: EEXIST)) }
        try append(FLVWriter.header(hasAudio: true, hasVideo: true))
    }

    /// Throws if a recording would be impossible. An existing file stays unchanged.
    static func check(path: String, overwrites: Bool) throws {
        if !overwrites, holdsSomething(path) { throw failure(path, SystemCallError("open", number: EEXIST)) }
        _ = try open(path, flags: 0)
    }

    /// Whether it is a regular file that is not empty.
    static func holdsSomething(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    }

    func append(_ tag: FLVTag) throws {
        if totals == nil {
            totals = RecordingTotals()
            // If metadata comes first, it gets the fields; otherwise a tag with only these fields is inserted.
            let first = RecordingTotals.metadata(in: tag) ?? []
            let body = RecordingTotals.body(first, withTotals: true)
            try write(FLVTag(kind: .script, timestamp: tag.timestamp, body: body))
            if RecordingTotals.metadata(in: tag) != nil { return }
        }
        totals?.add(tag)
        guard let properties = RecordingTotals.metadata(in: tag) else { return try write(tag) }
        let body = RecordingTotals.body(properties, withTotals: false)
        try write(FLVTag(kind: .script, timestamp: tag.timestamp, body: body))
    }

    /// Writes duration and size. Without this call, both are 0 in the file.
    func finish() throws {
        guard let totals else { return }
        do {
            for (offset, number) in totals.numbers(fileSize: byteCount) {
                try file.writeAll(Self.bigEndian(number), at: offset)
            }
        } catch {
            // A terminal, for example, cannot seek.
            if error.number != ESPIPE { throw Self.failure(path, error) }
        }
    }

    private static func bigEndian(_ number: Double) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> (56 - 8 * UInt64($0))) }
    }

    private func write(_ tag: FLVTag) throws {
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
            // Remove the part of the tag written before the disk was full.
            try? file.truncate(to: byteCount)
            try? finish()
            throw Self.failure(path, error)
        }
        byteCount += bytes.count
    }

    private static func open(_ path: String, flags: Int32) throws -> OwnedFileDescriptor {
        let file: OwnedFileDescriptor
        do {
            // Otherwise, opening a pipe would wait for its reader, and no signal could end that wait.
            file = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_NONBLOCK | flags)
        } catch {
            throw failure(path, error)
        }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw failure(path, SystemCallError("fstat")) }
        guard status.st_mode & S_IFMT != S_IFIFO else { throw failure(path, SystemCallError("open", number: ENXIO)) }
        return file
    }

    static func failure(_ path: String, _ error: SystemCallError) -> StreamFailure {
        let advice =
            switch error.number {
            case EEXIST: "; name another file, or give --overwrite"
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
