import Bitstream
import Glibc
import LinuxIO

/// An FLV file that grows while a publisher sends. What is written stays readable
/// when the program or the disk ends.
final class FLVRecording {
    let path: String
    private let file: OwnedFileDescriptor

    /// Makes the file, or empties it.
    init(path: String) throws {
        self.path = path
        do {
            file = try OwnedFileDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_TRUNC)
            try file.writeAll(FLVWriter.header(hasAudio: true, hasVideo: true))
        } catch {
            throw Self.failure(path, error)
        }
    }

    func append(_ tag: FLVTag) throws {
        do {
            try file.writeAll(try FLVWriter.bytes(of: tag))
        } catch let error as SystemCallError {
            throw Self.failure(path, error)
        } catch {
            throw CommandFailure(.recording, "\(path): \(error)")
        }
    }

    private static func failure(_ path: String, _ error: SystemCallError) -> CommandFailure {
        let advice =
            switch error.number {
            case ENOSPC, EDQUOT: "; free some space or record elsewhere"
            case ENOENT: "; make the directory first"
            default: ""
            }
        return CommandFailure(.recording, "recording to \(path) failed: \(error.reason)\(advice)")
    }
}
