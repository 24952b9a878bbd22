import Bitstream
import Glibc
import LinuxIO
import RecordingLogic

/// Finishes a folder's recordings that were cut off, as the recorder does when it opens the folder.
public enum RecordingRepairs {
    /// Files without anything to play, and those of other programs, stay as they are.
    /// - Returns: what happened to each file that was cut off.
    public static func repair(_ folder: String) throws(SystemCallError) -> [RecordingEvent] {
        let names = try fileNames(in: folder).compactMap { RecordingName($0) }.sorted()
        return names.compactMap { name in
            let path = "\(folder)/\(name.file)"
            do throws(SystemCallError) {
                return try repairFile(path)
            } catch {
                return .repairFailed(path: path, error)
            }
        }
    }

    private static func repairFile(_ path: String) throws(SystemCallError) -> RecordingEvent? {
        let file = try LinuxRecordingFile(path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        let condition = try MP4RecordingCondition(byteCount: file.byteCount) { offset, count throws(SystemCallError) in
            try file.read(at: offset, count: count)
        }
        guard case .unfinished(let repair) = condition else { return nil }
        let writable = try LinuxRecordingFile(path, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        for step in repair.steps { try writable.perform(step) }
        return RecordingEvent(repair, of: path)
    }
}
