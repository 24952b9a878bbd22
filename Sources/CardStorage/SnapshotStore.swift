import ApplianceLogic
import Glibc
import LinuxIO
import Settings

/// Where snapshots are saved. Used from the thread "card".
package struct SnapshotStore: Sendable {
    package let directory: String
    package let limits: SnapshotFolder.Limits
    /// The boot partition, which is writable only while something is written.
    package let bootDirectory: String

    /// - Parameter chosen: the choices in device.json.
    package init(_ chosen: DeviceDescription.Snapshots, _ settings: ApplianceSettings) {
        directory = chosen.folder ?? "\(settings.stateDirectory)/snapshots"
        limits = SnapshotFolder.Limits(count: chosen.count, byteCount: chosen.megabytes * 1_000_000)
        bootDirectory = settings.bootDirectory
    }

    /// Saves a snapshot and removes the oldest ones beyond the limits.
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
        // The parent must exist: if a medium is not mounted, its snapshots would end up on the disk below.
        if mkdir(directory, 0o755) != 0, errno != EEXIST { throw SystemCallError("mkdir", subject: directory) }
        let folder = SnapshotFolder(try files())
        // Remove what a power cut left of a snapshot with the same name.
        for path in temporaryFiles(of: [folder.nextName], in: directory) { unlink(path) }
        let path = "\(directory)/\(folder.nextName)"
        let surplus = folder.surplus(before: snapshot.count, limits: limits)
        // Delete the oldest only after the new file is complete, unless it needs their space.
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
            // The folder must stay within its limits.
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
