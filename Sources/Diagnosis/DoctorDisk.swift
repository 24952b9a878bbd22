import ApplianceLogic
import Glibc
import LinuxIO
import Recording
import RecordingLogic
import Settings

// The disk of recordings. Nothing is created on it.
extension DoctorExaminer {
    func recording(_ wanted: DeviceDescription.Record) -> RecordingFinding {
        let disk = LinuxRecordingDisk()
        var skipped: [String] = []
        do throws(SystemCallError) {
            let sticks = try disk.mountPoints(in: settings.mediaDirectory)
            let disks = (sticks + [settings.stateDirectory]).map(RecordingPlace.folder(onDisk:))
            for folder in wanted.folder.map({ [$0] }) ?? disks {
                do throws(SystemCallError) {
                    let space = try disk.space(of: try Self.writable(folder))
                    return RecordingFinding(
                        wanted, .folder(folder, freeByteCount: space.freeByteCount), skipped: skipped)
                } catch {
                    skipped.append("\(error)")
                }
            }
        } catch {
            skipped.append("\(error)")
        }
        return RecordingFinding(wanted, .none(reason: skipped.last ?? "there is no disk"))
    }

    /// - Returns: the folder, or its parent, in which it will be created.
    private static func writable(_ folder: String) throws(SystemCallError) -> String {
        if access(folder, W_OK) == 0 { return folder }
        guard errno == ENOENT else { throw SystemCallError("access", subject: folder) }
        let parts = folder.split(separator: "/").dropLast()
        let parent = "/" + parts.joined(separator: "/")
        guard access(parent, W_OK) == 0 else { throw SystemCallError("access", subject: parent) }
        return parent
    }
}
