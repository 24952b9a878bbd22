import Glibc
import LinuxIO

/// A new directory that is removed with its files at the end.
public final class TemporaryDirectory {
    public let path: String

    public init() throws {
        var template = Array("\(Self.parent)/tallycam-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.removeTree(path) }

    /// In memory, if there is enough (a container may have 64 MB): on a disk, `fdatasync` waits for what all other programs of the
    /// machine have written.
    private static var parent: String {
        var memory = statvfs()
        let isRoomy = statvfs("/dev/shm", &memory) == 0 && memory.f_bavail * memory.f_frsize > 1 << 30
        return isRoomy ? "/dev/shm" : "/tmp"
    }

    private static func removeTree(_ path: String) {
        guard remove(path) != 0, let directory = opendir(path) else { return }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { removeTree(path + "/" + name) }
        }
        closedir(directory)
        remove(path)
    }

    /// The path of a file in the directory.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Creates a file.
    /// - Returns: its path.
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        try replaceFile(file(name), with: bytes)
        return file(name)
    }

    /// Creates a FIFO.
    /// - Returns: its path.
    public func makeFIFO(_ name: String) throws -> String {
        guard mkfifo(file(name), 0o600) == 0 else { throw SystemCallError("mkfifo", subject: file(name)) }
        return file(name)
    }
}
