import Bitstream
import LinuxIO
import Media
import RecordingLogic
import Synchronization

/// Notes which call the disk is answering, so that others can tell when it hangs.
final class DiskCallWatch: Sendable {
    /// Longer calls are reported: a slow card takes a second or two to free blocks.
    static let patience = Duration.seconds(5)

    private struct Present {
        let call: DiskCall
        let since: MediaTimestamp
        var isReported = false
    }

    private let present = Mutex<Present?>(nil)
    private let report: @Sendable (RecordingEvent) -> Void

    init(report: @escaping @Sendable (RecordingEvent) -> Void) { self.report = report }

    /// Makes a call of the disk.
    func call<Value>(
        _ name: String, _ path: String, _ body: () throws(SystemCallError) -> Value
    ) throws(SystemCallError) -> Value {
        let call = DiskCall(name, path)
        let start = MonotonicClock.now()
        present.withLock { $0 = Present(call: call, since: start) }
        defer {
            let wasReported = present.withLock { present in
                defer { present = nil }
                return present?.isReported ?? false
            }
            if wasReported { report(.stallEnded(call, after: MonotonicClock.now() - start)) }
        }
        return try body()
    }

    /// Reports a call that takes too long, once. Any thread.
    func check(now: MediaTimestamp) {
        let stalled = present.withLock { current -> Present? in
            guard let found = current, !found.isReported, now - found.since >= Self.patience else { return nil }
            current?.isReported = true
            return found
        }
        if let stalled { report(.stalled(stalled.call, after: now - stalled.since)) }
    }

    /// The call that takes too long.
    func stalledCall(now: MediaTimestamp) -> DiskCall? {
        present.withLock { present in
            guard let present, now - present.since >= Self.patience else { return nil }
            return present.call
        }
    }
}

/// A folder for recordings, whose calls are watched.
struct RecordingFolderAccess {
    let folder: String
    let disk: any RecordingDisk
    let watch: DiskCallWatch

    func path(_ file: String) -> String { "\(folder)/\(file)" }

    func prepare() throws(SystemCallError) -> [RecordingFolder.File] {
        try watch.call("opendir", folder) { () throws(SystemCallError) in
            try disk.prepare(folder)
            return try disk.recordings(in: folder)
        }
    }

    func space() throws(SystemCallError) -> RecordingFolder.Space {
        try watch.call("statvfs", folder) { () throws(SystemCallError) in try disk.space(of: folder) }
    }

    func create(_ name: RecordingName) throws(SystemCallError) -> any RecordingFile {
        try watch.call("open", path(name.file)) { () throws(SystemCallError) in
            try disk.create(path(name.file))
        }
    }

    func open(_ name: RecordingName) throws(SystemCallError) -> any RecordingFile {
        try watch.call("open", path(name.file)) { () throws(SystemCallError) in try disk.open(path(name.file)) }
    }

    func perform(_ steps: [MP4FileStep], on file: any RecordingFile, _ name: RecordingName) throws(SystemCallError) {
        for step in steps {
            try watch.call(step.call, path(name.file)) { () throws(SystemCallError) in try file.perform(step) }
        }
    }

    func condition(of file: any RecordingFile, _ name: RecordingName) throws(SystemCallError) -> MP4RecordingCondition {
        try watch.call("pread", path(name.file)) { () throws(SystemCallError) in
            try MP4RecordingCondition(byteCount: try file.byteCount) { offset, count throws(SystemCallError) in
                try file.read(at: offset, count: count)
            }
        }
    }

    func synchronize() throws(SystemCallError) {
        try watch.call("fsync", folder) { () throws(SystemCallError) in try disk.synchronize(folder) }
    }

    /// Removes a recording and its journal.
    func remove(_ name: RecordingName) throws(SystemCallError) {
        for file in [name.file, name.journal] {
            try watch.call("unlink", path(file)) { () throws(SystemCallError) in try disk.remove(path(file)) }
        }
    }

    func append(_ bytes: [UInt8], toJournalOf name: RecordingName, creates: Bool) throws(SystemCallError) {
        try watch.call("write", path(name.journal)) { () throws(SystemCallError) in
            try disk.append(bytes, to: path(name.journal), creates: creates)
        }
    }
}

extension MP4FileStep {
    /// The call that performs it.
    fileprivate var call: String {
        switch self {
        case .write: "pwrite"
        case .truncate: "ftruncate"
        case .synchronize: "fdatasync"
        }
    }
}
