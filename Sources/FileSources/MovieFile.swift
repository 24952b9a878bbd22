import Bitstream
import Glibc
import LinuxIO
import Media
import Synchronization

/// An open MP4 or QuickTime file whose table of contents has been read.
public final class MovieFile {
    private static let shortest = Duration.milliseconds(1)

    public let path: String
    public let movie: MP4Movie
    private let file: OwnedFileDescriptor

    /// Reads only the headers and the table of contents, which takes as long as the disk does.
    public init(_ path: String) throws(FileSourceError) {
        self.path = path
        let length: Int
        do throws(SystemCallError) {
            file = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY)
            length = try Self.byteCount(of: file)
        } catch {
            throw .unreadable(SystemCallError(error.call, number: error.number, subject: path))
        }
        let start = try Self.bytes(of: file.rawValue, path, at: 0, count: min(length, FileSignature.byteCount))
        let kind = FileSignature.name(of: start)
        guard FileSignature.isMovie(start), kind == "an MP4 file" else {
            throw .wrongKind(path: path, wanted: .movie, found: kind)
        }
        movie = try Self.movie(of: file, path, byteCount: length)
        let hasTracks = movie.video != nil || movie.audio != nil
        guard !hasTracks || movie.duration >= Self.shortest else { throw .unfinished(path: path) }
    }

    private static func byteCount(of file: borrowing OwnedFileDescriptor) throws(SystemCallError) -> Int {
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw SystemCallError("fstat") }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else { throw SystemCallError("read", number: kind == S_IFDIR ? EISDIR : EINVAL) }
        return Int(status.st_size)
    }

    private static func movie(
        of file: borrowing OwnedFileDescriptor, _ path: String, byteCount length: Int
    ) throws(FileSourceError) -> MP4Movie {
        let descriptor = file.rawValue
        do throws(MP4FileProblem<FileSourceError>) {
            return try MP4Movie(byteCount: length) { offset, count throws(FileSourceError) in
                try bytes(of: descriptor, path, at: offset, count: count)
            }
        } catch {
            switch error {
            case .unreadable(let error): throw error
            case .damaged(let error): throw .brokenMovie(path: path, error)
            case .unfinished: throw .unfinished(path: path)
            }
        }
    }

    private static func bytes(
        of descriptor: Int32, _ path: String, at offset: Int, count: Int
    ) throws(FileSourceError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let failure: Int32? = bytes.withUnsafeMutableBytes { read($0, from: descriptor, at: offset) }
        guard let failure else { return bytes }
        // The file is shorter than it was a moment ago.
        guard failure != 0 else { throw .unfinished(path: path) }
        throw .unreadable(SystemCallError("pread", number: failure, subject: path))
    }

    /// - Returns: the error number, 0 for the end of the file; `nil` if everything was read.
    private static func read(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int) -> Int32?
    {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? 0 : errno }
            filled += count
        }
        return nil
    }

    /// Takes as long as the disk does.
    public func bytes(of sample: MP4Sample) throws(FileSourceError) -> [UInt8] {
        try Self.bytes(of: file.rawValue, path, at: sample.offset, count: sample.byteCount)
    }
}

/// The common start time of a movie's video and audio, so that they stay in sync.
public final class MovieClock: Hashable, Sendable {
    private let start = Mutex<MediaTimestamp?>(nil)

    public init() {}

    /// - Parameter time: the proposed start, used if there is none yet.
    func start(at time: MediaTimestamp) -> MediaTimestamp {
        start.withLock { start in
            let agreed = start ?? time
            start = agreed
            return agreed
        }
    }

    public static func == (left: MovieClock, right: MovieClock) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
