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

/// What the main thread wants of the card. Each job is answered by one report, in order.
package enum CardJob: Sendable {
    /// Whether the description files have changed.
    case look
    case read
    case write(CardPartition, [CardFiles.File])
    /// A snapshot, for its folder.
    case saveSnapshot(CommandID, SnapshotStore, Snapshot)
    /// What `MachineRestarts` keeps.
    case saveRestarts(String)
    /// The network's settings, and its start script when they are others than at boot: programs are read from the card.
    case takeUpNetwork(NetworkDescription, restarts: Bool)
}

/// The description files on their way between threads: a reference, for a value of this size is copied by much code.
package final class ReadFiles: Sendable {
    package let value: DescriptionFiles

    init(directory: String) { value = DescriptionFiles(reading: directory) }
}

package enum CardEvent: Sendable {
    case looked(hasChanged: Bool)
    case read(ReadFiles)
    case written(CardPartition, failed: Set<String>, failure: String?)
    case restartsSaved(Bool)
    /// - Parameter result: the path, or why there is none.
    case snapshotSaved(CommandID, Result<String, SystemCallError>)
    case networkTakenUp(failure: String?)
}

/// What the thread "card" owns and does: everything that waits for the card. A card may take many seconds for a write, or
/// for ever, and the button is to be answered meanwhile.
struct CardWork: Sendable {
    private static let networkScript = "/etc/init.d/S30network"
    private static let microsecondsOfWriting: UInt32 = 100_000

    private let settings: ApplianceSettings
    private var boot: BootPartition
    private var hasLookedForLeftovers = false
    private var fingerprint: [FoundFile]
    /// As they were read last.
    private(set) var files: ReadFiles

    /// Reads the files for the first time.
    init(settings: ApplianceSettings) {
        self.settings = settings
        boot = BootPartition(directory: settings.bootDirectory)
        // Before they are read, so that no change goes between the two.
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
        }
    }

    private mutating func look() -> CardEvent {
        guard
            boot.fingerprint != fingerprint || files.value.certificatesHaveChanged
                || files.value.mediaFilesHaveChanged
        else {
            return .looked(hasChanged: false)
        }
        // Whoever writes a file may not be done yet, and half of stream.json would end what is live.
        usleep(Self.microsecondsOfWriting)
        fingerprint = boot.fingerprint
        return .looked(hasChanged: true)
    }

    private mutating func writeState(_ files: [CardFiles.File]) -> CardEvent {
        if !hasLookedForLeftovers {
            hasLookedForLeftovers = true
            // Nonces are the stream's, which may be writing one just now.
            for path in temporaryFiles(of: ["events", "restarts"], in: settings.stateDirectory) { unlink(path) }
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
            // A file may change between the start script and the program, in the first second of a boot.
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

/// The card as the main thread sees it, which never waits for it.
package final class Card {
    package let reports: Mailbox<CardEvent>
    /// For the threads that are watched.
    package let calls: CardCalls
    private let jobs: Mailbox<CardJob>
    /// The description files as they were at the start.
    package let firstFiles: ReadFiles
    private var boot = CardFiles(first: "faults.txt")
    private var state = CardFiles(first: "events")
    private var watch = CardWatch()
    private var isLooking = false

    /// Reads the description files, and starts the thread.
    package init(settings: ApplianceSettings) throws(SystemCallError) {
        reports = try Mailbox()
        jobs = try Mailbox()
        calls = try CardCalls()
        let work = CardWork(settings: settings)
        firstFiles = work.files
        try Self.startThread(work, jobs: jobs, calls: calls, reports: reports)
    }

    /// The thread is never joined: it may hang for as long as the card does.
    private static func startThread(
        _ work: CardWork, jobs: Mailbox<CardJob>, calls: CardCalls, reports: Mailbox<CardEvent>
    ) throws(SystemCallError) {
        // The hardware watchdog does not bite for a card that hangs: after the restart it would hang again.
        _ = try NamedThread("card", mayBlock: true) {
            var work = work
            while true {
                var entries = [PollEntry(jobs.wakeup.fileDescriptor), PollEntry(calls.fileDescriptor)]
                guard (try? poll(&entries, until: nil)) != nil else { return }
                // A stream that waits comes before the next job.
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

    /// A file is to be so from now on; `nil` removes it. What fails is tried again.
    package func write(_ name: String, _ contents: [UInt8]?, to partition: CardPartition, now: MediaTimestamp) {
        switch partition {
        case .boot: perform(boot.contentsChanged(of: name, to: contents, now: now), partition, now: now)
        case .state: perform(state.contentsChanged(of: name, to: contents, now: now), partition, now: now)
        }
    }

    /// To be called every few seconds: writes again what has failed, and has somebody look at the description files.
    package func tick(now: MediaTimestamp) {
        perform(boot.timePassed(now: now), .boot, now: now)
        perform(state.timePassed(now: now), .state, now: now)
        guard !isLooking else { return }
        isLooking = true
        give(.look, now: now)
    }

    /// To be called at the end, when everything has been said that is to be kept.
    package func endNeared(now: MediaTimestamp) {
        perform(boot.endNeared(now: now), .boot, now: now)
        perform(state.endNeared(now: now), .state, now: now)
    }

    /// To be called with each report before anything else is done with it.
    package func answered(_ report: CardEvent, now: MediaTimestamp) {
        watch.jobAnswered(now: now)
        switch report {
        case .looked: isLooking = false
        case .written(.boot, let failed, let failure):
            perform(boot.written(failed: failed, failure: failure, now: now), .boot, now: now)
        case .written(.state, let failed, let failure):
            perform(state.written(failed: failed, failure: failure, now: now), .state, now: now)
        case .read, .restartsSaved, .snapshotSaved, .networkTakenUp: break
        }
    }

    private func perform(_ actions: [CardFiles.Action], _ partition: CardPartition, now: MediaTimestamp) {
        for case .write(let files) in actions { give(.write(partition, files), now: now) }
    }

    /// What is wrong with the card, if anything.
    package func failures(now: MediaTimestamp) -> [String] {
        [watch.failure(now: now), boot.failure, state.failure].compactMap { $0 }
    }

    /// Whether there is something to wait for before the power goes.
    package func isBusy(now: MediaTimestamp) -> Bool {
        !watch.isIdle || boot.isBusy(now: now) || state.isBusy(now: now)
    }
}
