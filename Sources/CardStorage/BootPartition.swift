import ApplianceLogic
import Glibc
import JSONText
import LinuxIO

/// What a description file was found to be, to tell whether that has changed.
enum FoundFile: Hashable {
    case contents([UInt8])
    /// By the error number: a file that was missing and is now a directory has another fault.
    case unreadable(Int32)

    init(reading path: String) {
        do {
            self = .contents(try readRegularFile(path, limit: SettingsFile.sizeLimit))
        } catch {
            self = .unreadable(error.number)
        }
    }
}

/// The card's FAT partition: read-only but for the moment of a write. Used from the thread "card".
struct BootPartition: Sendable {
    private static let ownFiles = ["faults.txt", "events.txt"]

    let directory: String
    /// It was made writable, and has to be made read-only again.
    private var isOpen = false
    private var hasLookedForLeftovers = false

    init(directory: String) { self.directory = directory }

    /// The files as they are now. Times would not do: FAT counts in steps of two
    /// seconds, and a second change within them may leave the size as it was.
    var fingerprint: [FoundFile] {
        DescriptionFiles.names.map { FoundFile(reading: "\(directory)/\($0)") }
    }

    /// Writes or removes files, but for those that are so already, and what a power cut has left of an earlier write.
    /// - Returns: which are not as they are to be, and why.
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
            // What is on the card is right; but it is to be tried again, as if it was not.
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

    /// - Returns: `nil` when the file is as it is to be.
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
