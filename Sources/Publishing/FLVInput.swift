import Bitstream
import Glibc
import LinuxIO

enum FLVInputError: Error, CustomStringConvertible {
    case unreadable(SystemCallError)
    case damaged(BitstreamError)

    var description: String {
        switch self {
        case .unreadable(let error): "\(error)"
        case .damaged(let error): "\(error)"
        }
    }
}

/// An FLV file, or a pipe with FLV data. Reading never waits for a pipe's writer: `fileDescriptor` becomes readable when the
/// writer has come, and when it has gone.
final class FLVInput {
    enum Read {
        case tag(FLVTag)
        /// No data yet.
        case late
        case end
    }

    /// Bytes that are read at once.
    private static let blockSize = 131_072

    private let file: OwnedFileDescriptor
    /// Reading a regular file waits only for the disk.
    private let isRegularFile: Bool

    init(path: String) throws(SystemCallError) {
        // Without O_NONBLOCK, opening a FIFO would wait for its writer, and no signal could end that.
        file = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK)
        var status = stat()
        guard fstat(file.rawValue, &status) == 0 else { throw SystemCallError("fstat") }
        isRegularFile = status.st_mode & S_IFMT == S_IFREG
    }

    var fileDescriptor: Int32 { file.rawValue }

    /// The next tag. The reader keeps data that was read but not requested yet.
    func next(_ reader: inout FLVReader) throws(FLVInputError) -> Read {
        while true {
            do {
                if let tag = try reader.nextTag() { return .tag(tag) }
            } catch {
                throw .damaged(error)
            }
            switch try fill(&reader) {
            case nil: return .late
            case 0:
                do {
                    try reader.inputEnded()
                } catch {
                    throw .damaged(error)
                }
                return .end
            default: break
            }
        }
    }

    /// - Returns: the number of bytes read, 0 at the end, `nil` if none are ready.
    private func fill(_ reader: inout FLVReader) throws(FLVInputError) -> Int? {
        // Before its first writer comes, a FIFO reads as if it had ended; only poll tells the two apart.
        guard isRegularFile || isReady else { return nil }
        do {
            let count = try reader.append(upTo: Self.blockSize) { try file.readIfReady(into: $0) ?? -1 }
            return count < 0 ? nil : count
        } catch {
            throw .unreadable(error as? SystemCallError ?? SystemCallError("read", number: EIO))
        }
    }

    private var isReady: Bool {
        var entries = [PollEntry(file.rawValue)]
        // The read reports an error.
        return (try? poll(&entries, until: .zero)) != 0
    }
}
