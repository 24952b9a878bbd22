import Bitstream
import LinuxIO
import Media
import RecordingLogic

/// The work of the thread `recording`.
struct RecorderWork: ~Copyable {
    enum Order: Sendable {
        case start(RecordingPlan)
        case stop
        case diskChanged
        case eject(media: String)
        case mark(String, MediaTimestamp)
        case acknowledged(target: String, Range<MediaTimestamp>)
        case end
    }

    /// Recordings that are looked at when a folder is opened: each interruption leaves one.
    private static let mostRepairs = 64

    struct OpenFile {
        let name: RecordingName
        let file: any RecordingFile
        var byteCount = 0
    }

    var plan = RecordingPlan(in: .folder(""))
    let sink: RecordingSink
    let disk: any RecordingDisk
    let watch: DiskCallWatch
    let clock: RecordingClock
    let report: @Sendable (RecordingEvent) -> Void
    private let hasVideo: Bool
    private var session = RecordingSession()
    private var assembler: RecordingAssembler
    var journal = RecordingJournal()
    /// The folder that is open; `nil` before the first one.
    var access: RecordingFolderAccess?
    /// A disk that cannot be used is reported once.
    private var unusable: Set<String> = []
    private var knownFolders: [String] = []
    var folder = RecordingFolder([])
    var open: OpenFile?
    /// No file is open.
    private var isFailing = false
    private(set) var isOver = false

    init(_ recorder: Recorder.Parts) {
        sink = recorder.sink
        disk = recorder.disk
        watch = recorder.watch
        clock = recorder.clock
        report = recorder.report
        hasVideo = recorder.hasVideo
        assembler = RecordingAssembler(hasVideo: hasVideo, hasAudio: plan.hasAudio, length: plan.settings.length)
    }

    var nextTime: MediaTimestamp? { session.nextTime }

    mutating func perform(_ order: Order) {
        switch order {
        case .start(let plan): start(plan)
        case .stop: perform(session.stopped())
        case .diskChanged: diskChanged()
        case .eject(let media): eject(from: media)
        case .mark(let text, let time): write([journal.mark(text, at: time)].compactMap { $0 })
        case .acknowledged(let target, let range):
            write(journal.acknowledged(by: target, range))
            // Otherwise the next fragment writes it.
            if open == nil { write(journal.flush()) }
        case .end:
            perform(session.stopped())
            isOver = true
        }
    }

    private mutating func start(_ next: RecordingPlan) {
        if next != plan { perform(session.stopped(isContinued: true)) }
        plan = next
        perform(session.started())
    }

    /// A better disk ends the file on the present one.
    private mutating func diskChanged() {
        let folders = folders()
        if folders != knownFolders { unusable.removeAll() }
        knownFolders = folders
        let best = folders.first { !unusable.contains($0) }
        let isElsewhere = session.state == .recording && best != access?.folder
        if isElsewhere { perform(session.stopped(isContinued: true) + session.started()) }
        perform(session.diskChanged())
    }

    private mutating func eject(from media: String) {
        let disks = mountPoints(in: media)
        let used = disks.first { access?.folder.hasPrefix("\($0)/") == true }
        guard let disk = used ?? disks.first else { return report(.ejectFailed(nil)) }
        let isOn = session.state != .off
        if used != nil { perform(session.stopped(isContinued: isOn)) }
        do throws(SystemCallError) {
            try watch.call("umount", disk) { () throws(SystemCallError) in try self.disk.unmount(disk) }
            report(.ejected(path: disk))
        } catch {
            report(.ejectFailed(error))
        }
        if isOn, used != nil { perform(session.started()) }
    }

    mutating func timePassed() { perform(session.timePassed(now: MonotonicClock.now())) }

    /// Writes what waits in the sink.
    mutating func writeWaiting() {
        // In every state: what is not drained would wake the thread again.
        let items = sink.takeAll()
        guard session.state == .recording else { return closeSink() }
        let reading = clock.read()
        _ = write(items, reading)
        sink.settled(heldByteCount: session.state == .recording ? assembler.heldByteCount : 0)
    }

    /// - Returns: false if the disk has failed.
    private mutating func write(_ items: [RecordingBuffer.Item], _ reading: RecordingClock.Reading) -> Bool {
        for item in items {
            guard write(assembler.add(item, clock: reading.wallClock), reading) else { return false }
        }
        return true
    }

    private mutating func perform(_ actions: [RecordingSession.Action]) {
        for action in actions {
            switch action {
            case .open:
                // What comes while the disk answers is recorded too.
                sink.open()
                openFolder()
            case .start:
                assembler = RecordingAssembler(
                    hasVideo: hasVideo, hasAudio: plan.hasAudio, length: plan.settings.length)
            case .stop: stop()
            case .report(let state): report(.stateChanged(state))
            }
        }
    }

    private mutating func stop() {
        if !isFailing {
            let reading = clock.read()
            if write(sink.takeAll(), reading) { _ = write(assembler.end(clock: reading.wallClock), reading) }
        }
        write(journal.flush())
        closeSink()
    }

    private func closeSink() {
        sink.close()
        sink.settled(heldByteCount: 0)
    }

    // MARK: Files

    /// - Returns: false if the disk has failed. Whatever is left of the file is repaired when the folder is opened again.
    private mutating func write(_ actions: [RecordingAssembler.Action], _ reading: RecordingClock.Reading) -> Bool {
        do throws(RecordingFailure) {
            for action in actions {
                do throws(SystemCallError) {
                    try write(action, reading)
                } catch {
                    throw RecordingFailure(error)
                }
            }
            return true
        } catch {
            if let open, let access { report(.fileFailed(path: access.path(open.name.file), error)) }
            open = nil
            assembler.fileFailed()
            isFailing = true
            perform(session.failed(error, now: MonotonicClock.now()))
            isFailing = false
            return false
        }
    }

    private mutating func write(
        _ action: RecordingAssembler.Action, _ reading: RecordingClock.Reading
    ) throws(SystemCallError) {
        guard let access else { return }
        switch action {
        case .create(let start, let steps): try create(access, start: start, steps, reading)
        case .append(let steps, let finishByteCount): try append(access, steps, finishByteCount)
        case .finish(let steps, let file): try finish(access, steps, file)
        case .refuse(let error):
            report(.mediaRefused(RecordingFailure(.media, "\(error)")))
        }
    }

    /// The possible folders, the preferred ones first.
    private func folders() -> [String] {
        switch plan.place {
        case .folder(let folder): [folder]
        case .automatic(let media, let card):
            mountPoints(in: media).map(RecordingPlace.folder(onDisk:)) + [card]
        }
    }

    private func mountPoints(in media: String) -> [String] {
        let points = try? watch.call("opendir", media) { () throws(SystemCallError) in
            try disk.mountPoints(in: media)
        }
        return points ?? []
    }

    private mutating func openFolder() {
        let folders = folders()
        knownFolders = folders
        for path in folders {
            do throws(SystemCallError) {
                let next = RecordingFolderAccess(folder: path, disk: disk, watch: watch)
                folder = RecordingFolder(try next.prepare())
                access = next
                for file in folder.files.suffix(Self.mostRepairs) { repair(file.name, next) }
                return perform(session.opened(now: MonotonicClock.now()))
            } catch {
                let failure = RecordingFailure(error)
                guard path != folders.last else {
                    closeSink()
                    return perform(session.failed(failure, now: MonotonicClock.now()))
                }
                if unusable.insert(path).inserted { report(.diskUnusable(failure)) }
            }
        }
    }

    private mutating func repair(_ name: RecordingName, _ access: RecordingFolderAccess) {
        let path = access.path(name.file)
        do throws(SystemCallError) {
            let file = try access.open(name)
            switch try access.condition(of: file, name) {
            case .finished, .foreign: break
            case .empty:
                try access.remove(name)
                folder.removed(name)
                report(.removedEmpty(path: path))
            case .unfinished(let repair):
                try access.perform(repair.steps, on: file, name)
                folder.changed(
                    RecordingFolder.File(name, byteCount: try file.byteCount, duration: repair.duration))
                report(RecordingEvent(repair, of: path))
            }
        } catch {
            report(.repairFailed(path: path, error))
        }
    }
}
