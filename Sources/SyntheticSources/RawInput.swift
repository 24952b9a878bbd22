import Glibc
import LinuxIO
import Media

/// A file or pipe with items of equal length (frames, blocks of samples).
final class RawInput {
    enum Read {
        /// The buffer is full. The time is the arrival of its first byte.
        case whole(at: MediaTimestamp)
        /// The input ended with this many bytes of an incomplete item. The time is the arrival of the first of them, or of the
        /// end.
        case ended(byteCount: Int, at: MediaTimestamp)
        /// The deadline passed first. Data received so far stays in the buffer.
        case late
        case stopped
    }

    let path: String
    /// A regular file waits for the reader; a pipe does not.
    let isRegularFile: Bool
    private let file: OwnedFileDescriptor
    private let pacing: Pacing
    /// Received bytes of the present item, and the arrival of the first one.
    private var filled = 0
    private var arrival = MediaTimestamp.zero

    /// - Parameter path: `-` is standard input.
    init(path: String, stop: EventFD) throws(SourceError) {
        self.path = path == "-" ? "standard input" : path
        pacing = Pacing(stop: stop)
        do {
            // Without O_NONBLOCK, opening a FIFO would wait for its writer, and `stop` could not end that wait.
            file =
                path == "-"
                ? OwnedFileDescriptor(adopting: dup(STDIN_FILENO))
                : try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            throw .cannotRead(path: self.path, error)
        }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else {
            throw .cannotRead(path: self.path, SystemCallError("fstat"))
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw .cannotRead(path: self.path, SystemCallError("read", number: EISDIR))
        }
        isRegularFile = status.st_mode & S_IFMT == S_IFREG
    }

    /// Bytes of a regular file; `nil` for a pipe.
    var byteCount: Int? {
        var status = stat()
        guard isRegularFile, fstat(file.rawValue, &status) == 0 else { return nil }
        return Int(status.st_size)
    }

    /// Fills the buffer, waiting for the writer as long as it takes.
    /// - Parameters:
    ///   - buffer: after `late`, pass the same buffer again.
    ///   - deadline: when to return `late`; `nil` for never.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, until deadline: MediaTimestamp? = nil
    ) throws(SourceError) -> Read {
        while filled < buffer.count {
            switch try pacing.waitUntilReadable(file.rawValue, until: deadline) {
            case .stopped: return .stopped
            case .late: return .late
            case .readable: break
            }
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            guard let count = try readIfReady(into: rest) else { continue }
            if filled == 0 { arrival = MonotonicClock.now() }
            if count == 0 { return .ended(byteCount: filled, at: arrival) }
            filled += count
        }
        filled = 0
        return .whole(at: arrival)
    }

    private func readIfReady(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int? {
        do throws(SystemCallError) {
            return try file.readIfReady(into: buffer)
        } catch {
            throw .cannotRead(path: path, error)
        }
    }
}
