import Bitstream
import Glibc
import LinuxIO
import StreamLogic

/// An FLV file, or a pipe with FLV data. Reading never waits for a pipe's writer: `fileDescriptor` becomes readable when the
/// writer has come, and when it has gone.
final class FLVInput: TagInput {
    /// Bytes that are read at once.
    private static let blockSize = 131_072

    private let path: String
    private let file: OwnedFileDescriptor
    /// Reading a regular file waits only for the disk.
    private let isRegularFile: Bool
    /// Keeps data that was read but not requested yet. Nothing here calls back into the object, so that no access has to be
    /// checked at run time.
    @exclusivity(unchecked) private var reader = FLVReader()

    init(_ path: String) throws(StreamFailure) {
        self.path = path
        do throws(SystemCallError) {
            // Without O_NONBLOCK, opening a FIFO would wait for its writer, and no signal could end that.
            file = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK)
            var status = stat()
            guard fstat(file.rawValue, &status) == 0 else { throw SystemCallError("fstat") }
            isRegularFile = status.st_mode & S_IFMT == S_IFREG
        } catch {
            throw StreamFailure(.media, "\(path): cannot be read: \(error.reason)")
        }
    }

    var fileDescriptor: Int32 { file.rawValue }
    var notes: [String] { [] }

    func next() throws(StreamFailure) -> TagRead {
        while true {
            if let tag = try parsed({ reader throws(BitstreamError) in try reader.nextTag() }) { return .tag(tag) }
            let count: Int?
            do throws(SystemCallError) {
                count = try fill()
            } catch {
                throw StreamFailure(.media, "\(path): \(error)")
            }
            guard let count else { return .late }
            guard count > 0 else {
                try parsed { reader throws(BitstreamError) in try reader.inputEnded() }
                return .end
            }
        }
    }

    private func parsed<Value>(
        _ parse: (inout FLVReader) throws(BitstreamError) -> Value
    ) throws(StreamFailure) -> Value {
        do throws(BitstreamError) {
            return try parse(&reader)
        } catch {
            throw StreamFailure(.media, "\(path): \(error)")
        }
    }

    /// - Returns: the number of bytes read, 0 at the end, `nil` if none are ready.
    private func fill() throws(SystemCallError) -> Int? {
        // Before its first writer comes, a FIFO reads as if it had ended; only poll tells the two apart.
        guard isRegularFile || isReady else { return nil }
        do {
            let count = try reader.append(upTo: Self.blockSize) { try file.readIfReady(into: $0) ?? -1 }
            return count < 0 ? nil : count
        } catch {
            throw error as? SystemCallError ?? SystemCallError("read", number: EIO)
        }
    }

    private var isReady: Bool {
        var entries = [PollEntry(file.rawValue)]
        // The read reports an error.
        return (try? poll(&entries, until: .zero)) != 0
    }
}
