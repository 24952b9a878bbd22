import Glibc
import LinuxIO
import Media

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
    /// A card that is full or dying is not to be worn out by attempts.
    private static let pauses = Duration.seconds(2)...Duration.seconds(300)
    private var pause = pauses.lowerBound
    private var nextAttempt = MediaTimestamp.zero

    init(directory: String) { self.directory = directory }

    /// The files as they are now. Times would not do: FAT counts in steps of two
    /// seconds, and a second change within them may leave the size as it was.
    var fingerprint: [FileState] {
        DescriptionFiles.names.map { FileState(reading: "\(directory)/\($0)") }
    }

    /// Writes or removes a file, unless it is so already. What fails is tried again by `retry`.
    func write(_ name: String, _ contents: [UInt8]?) {
        let now = MonotonicClock.now()
        if pending[name] != .some(contents) {
            pending[name] = .some(contents)
            pause = Self.pauses.lowerBound
            nextAttempt = now
        }
        retry(now: now)
    }

    /// Tries again what has failed: after two seconds, and after twice as long each time, up to five minutes.
    func retry(now: MediaTimestamp) {
        guard !pending.isEmpty, nextAttempt <= now else { return }
        attempt()
        nextAttempt = now + pause
        pause = pending.isEmpty ? Self.pauses.lowerBound : min(pause + pause, Self.pauses.upperBound)
    }

    private func attempt() {
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
            var firstError: SystemCallError?
            // What is wrong matters most when there is room for one file only.
            let isFirst: (String) -> Bool = { $0 == "faults.txt" }
            for (name, contents) in changed.sorted(by: { isFirst($0.key) || !isFirst($1.key) && $0.key < $1.key }) {
                if let error = replaceError(name, contents) {
                    firstError = firstError ?? error
                } else {
                    pending[name] = nil
                }
            }
            sync()
            if let firstError { throw firstError }
        } catch {
            failure = "the card's boot partition cannot be written: \(error)"
        }
    }

    /// - Returns: `nil` when the file is as it is to be.
    private func replaceError(_ name: String, _ contents: [UInt8]?) -> SystemCallError? {
        do throws(SystemCallError) {
            try replace(name, contents)
            return nil
        } catch {
            return error
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
