import ApplianceLogic
import Glibc
import LinuxIO
import Media

/// Remembers for the program's next run whether a stream is wanted, in a file next to the control socket, which is in memory.
/// Used from the main thread.
package struct ResumedStream {
    private let path: String
    private var resumption: StreamResumption

    /// - Parameter path: a file that does not survive a restart of the machine.
    package init(path: String) {
        self.path = path
        let boot = (try? readFile("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        let saved = (try? readFile(path, limit: 4096)).map { String(decoding: $0, as: UTF8.self) }
        resumption = StreamResumption(
            savedText: saved, boot: String(decoding: boot.filter { $0 > 0x20 }, as: UTF8.self))
    }

    package mutating func programStarted() -> StreamResumption.Start {
        defer { save() }
        return resumption.programStarted(now: MonotonicClock.now())
    }

    package mutating func wishChanged(to isWanted: Bool, isPaused: Bool) {
        if resumption.wishChanged(to: isWanted, isPaused: isPaused) { save() }
    }

    /// Whether the resumed stream was paused.
    package var isPaused: Bool { resumption.isPaused }

    /// The program ends as intended.
    package func programEnded() { unlink(path) }

    /// If this fails, a crash of the program ends the stream, like any state that is not saved.
    private func save() { try? replaceFile(path, with: Array(resumption.savedText.utf8), permissions: 0o600) }
}
