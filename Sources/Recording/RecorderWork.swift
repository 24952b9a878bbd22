import Bitstream
import LinuxIO
import Media
import RecordingLogic

/// The work of the thread `recording`.
struct RecorderWork: ~Copyable {
    enum Order: Sendable {
        case start(folder: String)
        case stop
        case diskChanged
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

    let settings: RecordingSettings
    let sink: RecordingSink
    let disk: any RecordingDisk
    let watch: DiskCallWatch
    let clock: RecordingClock
    let report: @Sendable (RecordingEvent) -> Void
    private let hasVideo: Bool
    private let hasAudio: Bool
    private var session = RecordingSession()
    private var assembler: RecordingAssembler
    var journal = RecordingJournal()
    var access: RecordingFolderAccess?
    var folder = RecordingFolder([])
    var open: OpenFile?
    /// No file is open.
    private var isFailing = false
    private(set) var isOver = false

    init(_ recorder: Recorder.Parts) {
        settings = recorder.settings
        sink = recorder.sink
        disk = recorder.disk
        watch = recorder.watch
        clock = recorder.clock
        report = recorder.report
        hasVideo = recorder.hasVideo
        hasAudio = recorder.hasAudio
        assembler = RecordingAssembler(
            hasVideo: recorder.hasVideo, hasAudio: recorder.hasAudio, length: recorder.settings.length)
    }

    var nextTime: MediaTimestamp? { session.nextTime }

    mutating func perform(_ order: Order) {
        switch order {
        case .start(let folder):
            access = RecordingFolderAccess(folder: folder, disk: disk, watch: watch)
            perform(session.started())
        case .stop: perform(session.stopped())
        case .diskChanged: perform(session.diskChanged())
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

    mutating func timePassed() { perform(session.timePassed(now: MonotonicClock.now())) }

    /// Writes what waits in the sink.
    mutating func writeWaiting() {
        // In every state: what is not drained would wake the thread again.
        let items = sink.takeAll()
        guard session.state == .recording else { return sink.settled(heldByteCount: 0) }
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
            case .open: openFolder()
            case .start:
                assembler = RecordingAssembler(hasVideo: hasVideo, hasAudio: hasAudio, length: settings.length)
                sink.open()
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

    private mutating func openFolder() {
        guard let access else { return }
        do throws(SystemCallError) {
            folder = RecordingFolder(try access.prepare())
            for file in folder.files.suffix(Self.mostRepairs) { repair(file.name, access) }
            perform(session.opened(now: MonotonicClock.now()))
        } catch {
            perform(session.failed(RecordingFailure(error), now: MonotonicClock.now()))
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
                report(
                    .repaired(
                        path: path, frameCount: repair.frameCount, duration: repair.duration,
                        lostByteCount: repair.lostByteCount))
            }
        } catch {
            report(.repairFailed(path: path, error))
        }
    }
}
