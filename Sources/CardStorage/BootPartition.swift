import ApplianceLogic
import Glibc
import JSONText
import LinuxIO
import Settings

/// A description file's state, for detecting changes.
enum FoundFile: Hashable {
    case contents([UInt8])
    /// Identified by the error number: a file that was missing and is now a directory has a different fault.
    case unreadable(Int32)

    init(reading path: String) {
        do {
            self = .contents(try readRegularFile(path, limit: SettingsFile.sizeLimit))
        } catch {
            self = .unreadable(error.number)
        }
    }
}

/// The card's FAT partition, which is writable only while something is written. Used from the thread "card".
struct BootPartition: Sendable {
    private static let ownFiles = ["faults.txt", "events.txt"] + DescriptionKind.allCases.map(\.rawValue)

    let directory: String
    /// Whether it was made writable and must be made read-only again.
    private var isOpen = false
    private var hasLookedForLeftovers = false

    init(directory: String) { self.directory = directory }

    /// The present files. Modification times would not do: FAT counts in steps of two seconds, and a second change within them
    /// may leave the size unchanged.
    var fingerprint: [FoundFile] {
        DescriptionFiles.names.map { FoundFile(reading: "\(directory)/\($0)") }
    }

    /// Writes or removes the files that differ, and removes leftovers of a write interrupted by a power cut.
    /// - Returns: the names of files that could not be written, and the reason.
    mutating func write(_ files: [CardFiles.File]) -> (failed: Set<String>, failure: String?) {
        let changed = files.filter { file in
            (try? readFile("\(directory)/\(file.name)", limit: 1 << 20)) != file.contents
        }
        let leftovers = hasLookedForLeftovers ? [] : temporaryFiles(of: Self.ownFiles, in: directory)
        hasLookedForLeftovers = true
        guard !changed.isEmpty || !leftovers.isEmpty || isOpen else { return ([], nil) }
        var failed: Set<String> = []
        var firstError: SystemCallError?
        do throws(SystemCallError) {
            try open()
            for path in leftovers { unlink(path) }
            for file in changed {
                guard let error = replaceError(file) else { continue }
                failed.insert(file.name)
                firstError = firstError ?? error
            }
            if !leftovers.isEmpty || failed.count < changed.count { try synchronizeFileSystem(directory) }
        } catch {
            failed = Set(files.map(\.name))
            firstError = firstError ?? error
        }
        do throws(SystemCallError) {
            try close()
        } catch {
            // The card's contents are right, but try again as if they were not.
            failed = Set(files.map(\.name))
            firstError = firstError ?? error
        }
        return (failed, firstError.map { "the card's boot partition cannot be written: \($0)" })
    }

    private mutating func open() throws(SystemCallError) {
        guard isReadOnly(directory) else { return }
        try remount(directory, isReadOnly: false)
        isOpen = true
    }

    private mutating func close() throws(SystemCallError) {
        guard isOpen else { return }
        try remount(directory, isReadOnly: true)
        isOpen = false
    }

    /// - Returns: `nil` if the file is as requested.
    private func replaceError(_ file: CardFiles.File) -> SystemCallError? {
        let path = "\(directory)/\(file.name)"
        do throws(SystemCallError) {
            if let contents = file.contents {
                try replaceFile(path, with: contents)
            } else if unlink(path) != 0, errno != ENOENT {
                throw SystemCallError("unlink", subject: path)
            }
            return nil
        } catch {
            return error
        }
    }
}
