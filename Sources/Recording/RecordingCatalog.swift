import Bitstream
import Glibc
import LinuxIO
import Media
import RecordingLogic

/// The recordings of a folder, with what their journals say. Reading thousands takes a second or two.
public struct RecordingCatalog: Sendable {
    /// What is wrong with a file, if anything.
    public enum Condition: Hashable, Sendable {
        case finished
        /// It did not close; it is finished when its folder is recorded to again.
        case unfinished
        /// It contains nothing that could be played.
        case empty
        /// - Parameter reason: for people.
        case damaged(reason: String)
        /// Another program's file.
        case foreign(reason: String)

        public var name: String {
            switch self {
            case .finished: "finished"
            case .unfinished: "unfinished"
            case .empty: "empty"
            case .damaged: "damaged"
            case .foreign: "foreign"
            }
        }
    }

    /// The parts that a server lacks.
    public struct Gaps: Hashable, Sendable {
        public let target: String
        public let ranges: TimeRanges
    }

    public struct Entry: Hashable, Sendable {
        public let file: String
        public let byteCount: Int
        public var condition: Condition
        public var duration = Duration.zero
        /// UNIX nanoseconds; `nil` if the clock was not set.
        public var start: Int64?
        public var clockError: Duration?
        /// One for each target that the folder's journals name.
        public var gaps: [Gaps] = []
        public var marks: [RecordingJournalContents.Mark] = []
    }

    /// Recordings, the oldest first, then other MP4 files.
    public let entries: [Entry]

    /// - Parameter target: the server whose gaps are wanted; `nil` for all.
    public init(_ folder: String, target: String? = nil) throws(SystemCallError) {
        let files = try fileNames(in: folder).filter { $0.hasSuffix(".mp4") }
        let names = files.compactMap { RecordingName($0) }.sorted()
        let journals = Self.journals(of: names, in: folder)
        let targets = target.map { [$0] } ?? Self.targets(journals)
        let recordings = names.enumerated().compactMap { index, name in
            Self.recording(name, journals[index], targets, in: folder)
        }
        let others = files.filter { RecordingName($0) == nil }.sorted().compactMap { file -> Entry? in
            Self.byteCount("\(folder)/\(file)").map {
                Entry(
                    file: file, byteCount: $0,
                    condition: .foreign(reason: "its name is not that of a recording"))
            }
        }
        entries = recordings + others
    }

    private static func journals(of names: [RecordingName], in folder: String) -> [RecordingJournalContents?] {
        names.map { name in
            guard let text = try? readRegularFile("\(folder)/\(name.journal)", limit: JournalText.largest) else {
                return nil
            }
            return RecordingJournalContents(JournalText.entries(in: text))
        }
    }

    private static func targets(_ journals: [RecordingJournalContents?]) -> [String] {
        Set(journals.compactMap { $0 }.flatMap(\.acknowledged.keys)).sorted()
    }

    /// The servers that the folder's journals name.
    public static func targets(in folder: String) throws(SystemCallError) -> [String] {
        let names = try fileNames(in: folder).compactMap { RecordingName($0) }
        return targets(journals(of: names, in: folder))
    }

    /// - Returns: `nil` if it is no regular file.
    private static func byteCount(_ path: String) -> Int? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    private static func recording(
        _ name: RecordingName, _ journal: RecordingJournalContents?, _ targets: [String], in folder: String
    ) -> Entry? {
        let path = "\(folder)/\(name.file)"
        guard let byteCount = byteCount(path) else { return nil }
        var entry = Entry(file: name.file, byteCount: byteCount, condition: .finished)
        do throws(SystemCallError) {
            let file = try LinuxRecordingFile(path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            try examine(file, byteCount, &entry)
            entry.start = journal?.nanosecondsSince1970 ?? entry.start
            guard entry.duration > .zero, let journal else { return entry }
            entry.clockError = journal.clockError
            entry.marks = journal.marks
            for target in targets {
                guard let gaps = try gaps(of: target, journal, entry.duration, file) else { continue }
                entry.gaps.append(Gaps(target: target, ranges: gaps))
            }
        } catch {
            entry.condition = .damaged(reason: error.reason)
        }
        return entry
    }

    private static func examine(
        _ file: LinuxRecordingFile, _ byteCount: Int, _ entry: inout Entry
    ) throws(SystemCallError) {
        let summary = try MP4RecordingSummary(byteCount: byteCount) { offset, count throws(SystemCallError) in
            try file.read(at: offset, count: count)
        }
        if let summary {
            entry.duration = summary.duration
            entry.start = summary.creation.map { $0.multipliedReportingOverflow(by: 1_000_000_000).partialValue }
            return
        }
        let condition = try MP4RecordingCondition(byteCount: byteCount) { offset, count throws(SystemCallError) in
            try file.read(at: offset, count: count)
        }
        switch condition {
        case .finished: entry.condition = .damaged(reason: "its table of contents cannot be read")
        case .unfinished(let repair):
            entry.condition = .unfinished
            entry.duration = repair.duration
        case .empty: entry.condition = .empty
        case .foreign(let error): entry.condition = .foreign(reason: "\(error)")
        }
    }

    /// Most files have no gap, and need no more reading.
    private static func gaps(
        of target: String, _ journal: RecordingJournalContents, _ duration: Duration, _ file: LinuxRecordingFile
    ) throws(SystemCallError) -> TimeRanges? {
        let missing = journal.missing(of: target, until: duration)
        guard !missing.isEmpty, journal.acknowledged[target] != nil else { return missing }
        guard let index = try RecordingIndex(file) else { return missing }
        return index.gaps(of: target, journal)
    }
}
