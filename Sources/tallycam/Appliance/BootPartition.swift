import Glibc
import LinuxIO

/// What a description file was found to be, to tell whether that has changed.
enum FileState: Hashable {
    case contents([UInt8])
    /// By the error number: a file that was missing and is now a directory has another fault.
    case unreadable(Int32)

    init(reading path: String) {
        do {
            self = .contents(try readRegularFile(path, limit: DescriptionFiles.sizeLimit))
        } catch {
            self = .unreadable(error.number)
        }
    }
}

/// The card's FAT partition: read-only but for the moment of a write. Used from the main thread.
final class BootPartition {
    let directory: String
    /// Why the last write failed; `nil` when it did not.
    private(set) var failure: String?
    /// What is still to be written, by file name; `nil` removes the file.
    private var pending: [String: [UInt8]?] = [:]

    init(directory: String) { self.directory = directory }

    /// The files as they are now. Times would not do: FAT counts in steps of two
    /// seconds, and a second change within them may leave the size as it was.
    var fingerprint: [FileState] {
        DescriptionFiles.names.map { FileState(reading: "\(directory)/\($0)") }
    }

    /// Writes or removes a file, unless it is so already. What fails is tried again by `retry`.
    func write(_ name: String, _ contents: [UInt8]?) {
        pending[name] = .some(contents)
        retry()
    }

    func retry() {
        let changed = pending.filter { name, contents in
            (try? readFile("\(directory)/\(name)", limit: 1 << 20)) != contents
        }
        pending = changed
        failure = nil
        guard !changed.isEmpty else { return }
        do {
            let wasReadOnly = isReadOnly(directory)
            if wasReadOnly { try remount(directory, isReadOnly: false) }
            defer { if wasReadOnly { try? remount(directory, isReadOnly: true) } }
            for (name, contents) in changed.sorted(by: { $0.key < $1.key }) {
                try replace(name, contents)
                pending[name] = nil
            }
            sync()
        } catch {
            failure = "the card's boot partition cannot be written: \(error)"
        }
    }

    private func replace(_ name: String, _ contents: [UInt8]?) throws(SystemCallError) {
        let path = "\(directory)/\(name)"
        if let contents {
            try replaceFile(path, with: contents)
        } else if unlink(path) != 0, errno != ENOENT {
            throw SystemCallError("unlink", subject: path)
        }
    }
}
