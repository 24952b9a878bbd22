import ApplianceLogic
import Glibc
import LinuxIO
import Media
import Settings
import StreamLogic

/// A partition of the card that is written while the camera runs.
package enum CardPartition: Sendable {
    case boot
    case state
}

/// A job from the main thread. Each is answered by one report, in order.
package enum CardJob: Sendable {
    /// Checks whether the description files have changed.
    case look
    case read
    case write(CardPartition, [CardFiles.File])
    /// Saves a snapshot in its folder.
    case saveSnapshot(CommandID, SnapshotStore, Snapshot)
    /// Saves the state of `MachineRestarts`.
    case saveRestarts(String)
    /// Writes the network settings, and runs the network's start script again if they differ from those at boot: programs are
    /// read from the card.
    case takeUpNetwork(NetworkDescription, restarts: Bool)
    /// - Parameter 0: the connection of the page that waits.
    case edit(UInt64, DescriptionRequest)
}

/// The description files as a reference, because copying a value of this size takes much code.
package final class ReadFiles: Sendable {
    package let value: DescriptionFiles

    init(directory: String) { value = DescriptionFiles(reading: directory) }
}

package enum CardEvent: Sendable {
    case looked(hasChanged: Bool)
    case read(ReadFiles)
    case written(CardPartition, failed: Set<String>, failure: String?)
    case restartsSaved(Bool)
    /// - Parameter result: the path, or the error.
    case snapshotSaved(CommandID, Result<String, SystemCallError>)
    case networkTakenUp(failure: String?)
    case edited(UInt64, DescriptionOutcome)
}

/// The state and work of the thread "card": everything that waits for the card. A write may take many seconds or hang forever,
/// and the button must still respond.
struct CardWork: Sendable {
    private static let networkScript = "/etc/init.d/S30network"
    private static let microsecondsOfWriting: UInt32 = 100_000

    private let settings: ApplianceSettings
    private var boot: BootPartition
    private var hasLookedForLeftovers = false
    private var fingerprint: [FoundFile]
    /// From the last reading.
    private(set) var files: ReadFiles

    /// Reads the files for the first time.
    init(settings: ApplianceSettings) {
        self.settings = settings
        boot = BootPartition(directory: settings.bootDirectory)
        // Taken before reading, so that no change is missed in between.
        fingerprint = boot.fingerprint
        files = ReadFiles(directory: settings.bootDirectory)
    }

    mutating func perform(_ job: CardJob) -> CardEvent {
        switch job {
        case .look: return look()
        case .read:
            files = ReadFiles(directory: settings.bootDirectory)
            return .read(files)
        case .write(.boot, let files):
            let result = boot.write(files)
            return .written(.boot, failed: result.failed, failure: result.failure)
        case .write(.state, let files): return writeState(files)
        case .saveSnapshot(let id, let store, let snapshot):
            return .snapshotSaved(id, Result { () throws(SystemCallError) in try store.save(snapshot.bytes) })
        case .saveRestarts(let text): return .restartsSaved(save("restarts", Array(text.utf8)) == nil)
        case .takeUpNetwork(let network, let restarts): return takeUpNetwork(network, restarts: restarts)
        case .edit(let id, let request): return .edited(id, boot.answer(request))
        }
    }

    private mutating func look() -> CardEvent {
        guard
            boot.fingerprint != fingerprint || files.value.certificatesHaveChanged
                || files.value.mediaFilesHaveChanged
        else {
            return .looked(hasChanged: false)
        }
        // The file may still be being written, and half of stream.json would end a live stream.
        usleep(Self.microsecondsOfWriting)
        fingerprint = boot.fingerprint
        return .looked(hasChanged: true)
    }

    private mutating func writeState(_ files: [CardFiles.File]) -> CardEvent {
        if !hasLookedForLeftovers {
            hasLookedForLeftovers = true
            // Nonces belong to the stream, which may be writing one right now.
            for path in temporaryFiles(of: ["events", "restarts", "browsers"], in: settings.stateDirectory) {
                unlink(path)
            }
        }
        var failed: Set<String> = []
        var firstError: SystemCallError?
        for file in files {
            guard let error = save(file.name, file.contents ?? []) else { continue }
            failed.insert(file.name)
            firstError = firstError ?? error
        }
        let failure = firstError.map { "the card's state partition cannot be written: \($0)" }
        return .written(.state, failed: failed, failure: failure)
    }

    private func save(_ name: String, _ contents: [UInt8]) -> SystemCallError? {
        do throws(SystemCallError) {
            try replaceFile("\(settings.stateDirectory)/\(name)", with: contents, permissions: 0o600)
            return nil
        } catch {
            return error
        }
    }

    private func takeUpNetwork(_ network: NetworkDescription, restarts: Bool) -> CardEvent {
        do throws(SystemCallError) {
            // A file may change between the start script and the program, in the first second after boot.
            let hasChanged = try writeNetworkSettings(network, to: settings.networkDirectory)
            if restarts || hasChanged, access(Self.networkScript, X_OK) == 0 {
                try startProgram([Self.networkScript, "restart"])
            }
            return .networkTakenUp(failure: nil)
        } catch {
            return .networkTakenUp(failure: "\(error)")
        }
    }
}

/// The card as seen by the main thread, which never waits for it.
package final class Card {
    package let reports: Mailbox<CardEvent>
    /// For watched threads.
    package let calls: CardCalls
    private let jobs: Mailbox<CardJob>
    /// The description files at the start.
    package let firstFiles: ReadFiles
    private var boot = CardFiles(first: "faults.txt")
    private var state = CardFiles(first: "events")
    private var watch = CardWatch()
    private var isLooking = false

    /// Reads the description files and starts the thread.
    package init(settings: ApplianceSettings) throws(SystemCallError) {
        reports = try Mailbox()
        jobs = try Mailbox()
        calls = try CardCalls()
        let work = CardWork(settings: settings)
        firstFiles = work.files
        try Self.startThread(work, jobs: jobs, calls: calls, reports: reports)
    }

    /// The thread is never joined, because it may hang as long as the card does.
    private static func startThread(
        _ work: CardWork, jobs: Mailbox<CardJob>, calls: CardCalls, reports: Mailbox<CardEvent>
    ) throws(SystemCallError) {
        // A hanging card must not trigger the hardware watchdog, because it would hang again after the restart.
        _ = try NamedThread("card", mayBlock: true) {
            var work = work
            while true {
                var entries = [PollEntry(jobs.wakeup.fileDescriptor), PollEntry(calls.fileDescriptor)]
                guard (try? poll(&entries, until: nil)) != nil else { return }
                // A waiting stream comes before the next job.
                calls.performWaiting()
                for job in jobs.takeAll() {
                    reports.send(work.perform(job))
                    calls.performWaiting()
                }
            }
        }
    }

    package func give(_ job: CardJob, now: MediaTimestamp) {
        watch.jobGiven(now: now)
        jobs.send(job)
    }

    /// Sets a file's contents; `nil` removes it. Failures are retried.
    package func write(_ name: String, _ contents: [UInt8]?, to partition: CardPartition, now: MediaTimestamp) {
        switch partition {
        case .boot: perform(boot.contentsChanged(of: name, to: contents, now: now), partition, now: now)
        case .state: perform(state.contentsChanged(of: name, to: contents, now: now), partition, now: now)
        }
    }

    /// Call it every few seconds: retries failed writes and checks the description files for changes.
    package func tick(now: MediaTimestamp) {
        perform(boot.timePassed(now: now), .boot, now: now)
        perform(state.timePassed(now: now), .state, now: now)
        guard !isLooking else { return }
        isLooking = true
        give(.look, now: now)
    }

    /// Call it at the end, after everything to be kept has been passed in.
    package func endNeared(now: MediaTimestamp) {
        perform(boot.endNeared(now: now), .boot, now: now)
        perform(state.endNeared(now: now), .state, now: now)
    }

    /// Call it for each report, before processing it.
    package func answered(_ report: CardEvent, now: MediaTimestamp) {
        watch.jobAnswered(now: now)
        switch report {
        case .looked: isLooking = false
        case .written(.boot, let failed, let failure):
            perform(boot.written(failed: failed, failure: failure, now: now), .boot, now: now)
        case .written(.state, let failed, let failure):
            perform(state.written(failed: failed, failure: failure, now: now), .state, now: now)
        case .read, .restartsSaved, .snapshotSaved, .networkTakenUp, .edited: break
        }
    }

    private func perform(_ actions: [CardFiles.Action], _ partition: CardPartition, now: MediaTimestamp) {
        for case .write(let files) in actions { give(.write(partition, files), now: now) }
    }

    /// The card's present failures.
    package func failures(now: MediaTimestamp) -> [String] {
        [watch.failure(now: now), boot.failure, state.failure].compactMap { $0 }
    }

    /// Whether to wait before the power is switched off.
    package func isBusy(now: MediaTimestamp) -> Bool {
        !watch.isIdle || boot.isBusy(now: now) || state.isBusy(now: now)
    }
}
