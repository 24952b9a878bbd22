import Bitstream
import Glibc
import LinuxIO
import Media
import RecordingLogic

// The files that the thread `recording` writes.
extension RecorderWork {
    mutating func create(
        _ access: RecordingFolderAccess, start: MediaTimestamp, _ steps: [MP4FileStep],
        _ reading: RecordingClock.Reading
    ) throws(SystemCallError) {
        try makeRoom(access, for: RecordingFolder.leastRoom)
        let time = reading.wallClock.map { start.nanoseconds &+ $0.offset }
        let name = folder.nextName(secondsSince1970: time.map { $0 / 1_000_000_000 })
        let file = try access.create(name)
        open = OpenFile(name: name, file: file)
        folder.changed(RecordingFolder.File(name, byteCount: 0))
        try access.perform(steps, on: file, name)
        journal.fileStarted(name, at: start)
        try access.append(
            JournalText.line(.start(nanosecondsSince1970: time, clockError: reading.error)), toJournalOf: name,
            creates: true)
        try access.synchronize()
        report(.fileStarted(path: access.path(name.file)))
    }

    mutating func append(
        _ access: RecordingFolderAccess, _ steps: [MP4FileStep], _ finishByteCount: Int
    ) throws(SystemCallError) {
        guard let open else { return }
        let byteCount = steps.reduce(0) { $0 + $1.byteCount }
        try makeRoom(access, for: byteCount + finishByteCount)
        do throws(SystemCallError) {
            try access.perform(steps, on: open.file, open.name)
        } catch {
            // Only the complete fragments stay, so that another attempt has room.
            if open.byteCount > 0 { try? open.file.perform(.truncate(to: open.byteCount)) }
            throw error
        }
        changed(open, to: steps.end)
        write(journal.flush())
    }

    mutating func finish(
        _ access: RecordingFolderAccess, _ steps: [MP4FileStep], _ file: RecordingAssembler.RecordedFile
    ) throws(SystemCallError) {
        guard let open else { return }
        // The last frame lasts beyond its start. The next file ends this one if it starts earlier.
        journal.fileEnded(at: file.end + .seconds(1))
        try access.perform(steps, on: open.file, open.name)
        let byteCount = steps.end
        folder.changed(
            RecordingFolder.File(open.name, byteCount: byteCount, duration: file.end - file.start))
        self.open = nil
        report(.fileFinished(path: access.path(open.name.file), file, byteCount: byteCount))
    }

    private mutating func changed(_ file: OpenFile, to byteCount: Int) {
        open?.byteCount = byteCount
        folder.changed(RecordingFolder.File(file.name, byteCount: byteCount))
    }

    /// Removes the oldest recordings, if the limits or the disk demand it.
    private mutating func makeRoom(_ access: RecordingFolderAccess, for byteCount: Int) throws(SystemCallError) {
        let space = try access.space()
        guard let surplus = folder.surplus(before: byteCount, on: space, open: open?.name, settings: plan.settings)
        else {
            throw SystemCallError("write", number: ENOSPC, subject: access.folder)
        }
        guard !surplus.isEmpty else { return }
        for name in surplus {
            try access.remove(name)
            folder.removed(name)
        }
        report(.removedOldest(paths: surplus.map { access.path($0.file) }))
    }

    /// Journals are a help, not the recording: a failure leaves gaps, which only means that media is sent twice.
    mutating func write(_ lines: [RecordingJournal.Line]) {
        guard let access else { return }
        for line in lines {
            // The file may have been removed in between.
            try? access.append(JournalText.line(line.entry), toJournalOf: line.file, creates: false)
        }
    }
}

extension [MP4FileStep] {
    /// Where the farthest write ends.
    fileprivate var end: Int {
        reduce(0) { end, step in
            guard case .write(_, let offset) = step else { return end }
            return Swift.max(end, offset + step.byteCount)
        }
    }
}

extension MP4FileStep {
    fileprivate var byteCount: Int {
        guard case .write(let pieces, _) = self else { return 0 }
        return pieces.reduce(0) { $0 + $1.count }
    }
}
