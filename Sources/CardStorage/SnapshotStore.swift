import ApplianceLogic
import Glibc
import LinuxIO
import Settings

/// Where the snapshots go. Used from the thread "card".
package struct SnapshotStore: Sendable {
    package let directory: String
    package let limits: SnapshotFolder.Limits
    /// The boot partition, which is read-only but for the moment of a write.
    package let bootDirectory: String

    /// - Parameter chosen: in device.json.
    package init(_ chosen: DeviceDescription.Snapshots, _ settings: ApplianceSettings) {
        directory = chosen.folder ?? "\(settings.stateDirectory)/snapshots"
        limits = SnapshotFolder.Limits(count: chosen.count, byteCount: chosen.megabytes * 1_000_000)
        bootDirectory = settings.bootDirectory
    }

    /// Writes a snapshot, and removes the oldest ones that are too many beside it.
    /// - Returns: its path.
    func save(_ snapshot: [UInt8]) throws(SystemCallError) -> String {
        guard isBelowBoot, isReadOnly(bootDirectory) else { return try write(snapshot) }
        try remount(bootDirectory, isReadOnly: false)
        let result = Result { () throws(SystemCallError) in try write(snapshot) }
        try remount(bootDirectory, isReadOnly: true)
        return try result.get()
    }

    private var isBelowBoot: Bool { "\(directory)/".hasPrefix("\(bootDirectory)/") }

    private func write(_ snapshot: [UInt8]) throws(SystemCallError) -> String {
        guard snapshot.count <= limits.byteCount else {
            throw SystemCallError("write", number: EFBIG, subject: "\(snapshot.count) bytes to \(directory)")
        }
        // Its parent has to be there: a medium that is not mounted would have its snapshots on the disk below it.
        if mkdir(directory, 0o755) != 0, errno != EEXIST { throw SystemCallError("mkdir", subject: directory) }
        let folder = SnapshotFolder(try files())
        // What a power cut has left of the snapshot that would have had this name.
        for path in temporaryFiles(of: [folder.nextName], in: directory) { unlink(path) }
        let path = "\(directory)/\(folder.nextName)"
        let surplus = folder.surplus(before: snapshot.count, limits: limits)
        // The oldest go once the new one is there; before it only where that leaves it the room that it needs.
        do throws(SystemCallError) {
            try replaceFile(path, with: snapshot)
        } catch {
            let free = freeByteCount(at: directory) ?? 0
            guard error.number == ENOSPC, folder.byteCount(of: surplus) >= snapshot.count - free else { throw error }
            try remove(surplus)
            try replaceFile(path, with: snapshot)
            return path
        }
        do throws(SystemCallError) {
            try remove(surplus)
        } catch {
            // The folder has its limits.
            unlink(path)
            throw error
        }
        return path
    }

    private func remove(_ names: [String]) throws(SystemCallError) {
        for name in names {
            guard unlink("\(directory)/\(name)") == 0 || errno == ENOENT else {
                throw SystemCallError("unlink", subject: "\(directory)/\(name)")
            }
        }
    }

    private func files() throws(SystemCallError) -> [SnapshotFolder.File] {
        try fileNames(in: directory).compactMap { name in
            var status = stat()
            guard lstat("\(directory)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return SnapshotFolder.File(name: name, byteCount: Int(status.st_size))
        }
    }
}
