import ApplianceLogic
import Glibc
import LinuxIO

/// Reads and checks the description files, and tries to write both partitions. Waits for the card.
package struct CardExamination: Sendable {
    package let files: ReadFiles
    package let finding: CardFinding

    private static let trialName = ".tallycam-doctor"

    /// - Parameter settings: a state directory that does not exist is not tried.
    package init(of settings: ApplianceSettings) {
        files = ReadFiles(directory: settings.bootDirectory)
        var finding = CardFinding(directory: settings.bootDirectory)
        finding.isFolder = DescriptionFiles.isFolder(settings.bootDirectory)
        finding.faults = files.value.faults
        for directory in [settings.bootDirectory, settings.stateDirectory] where DescriptionFiles.isFolder(directory) {
            // The boot partition is writable only while something is written.
            if directory == settings.bootDirectory, isReadOnly(directory) { continue }
            if let error = Self.failureOfWriting(to: directory) { finding.writeFailures.append("\(error)") }
        }
        self.finding = finding
    }

    private static func failureOfWriting(to directory: String) -> SystemCallError? {
        let path = "\(directory)/\(trialName)"
        do throws(SystemCallError) {
            try replaceFile(path, with: Array("A trial of tallycam doctor.\n".utf8), permissions: 0o600)
        } catch {
            return error
        }
        return unlink(path) == 0 ? nil : SystemCallError("unlink", subject: path)
    }
}
