import Media

/// A line of the journal beside a recording. Times count from the file's zero.
public enum RecordingJournalEntry: Hashable, Sendable {
    /// The first line: when the recording starts, and how wrong the clock may be; `nil` if it is unknown.
    case start(nanosecondsSince1970: Int64?, clockError: Duration?)
    /// A server has acknowledged all media of this range.
    case acknowledged(target: String, Range<Duration>)
    /// A person marked this moment.
    case mark(text: String, at: Duration)
}

/// Assigns what servers acknowledge to the files that it is in, also if it comes after a file's end.
public struct RecordingJournal: Sendable {
    /// An entry, and the file whose journal it belongs to.
    public struct Line: Hashable, Sendable {
        public let file: RecordingName
        public let entry: RecordingJournalEntry
    }

    /// Files that can still be acknowledged: later acknowledgments are void, so that media is rather sent twice than never.
    private static let mostFiles = 16

    private struct File: Sendable {
        let name: RecordingName
        let start: MediaTimestamp
        var end: MediaTimestamp?
    }

    private var files: [File] = []
    /// In capture time, not written yet.
    private var pending: [String: Range<MediaTimestamp>] = [:]

    public init() {}

    public mutating func fileStarted(_ name: RecordingName, at start: MediaTimestamp) {
        if let last = files.indices.last, let end = files[last].end { files[last].end = min(end, start) }
        files.append(File(name: name, start: start))
        if files.count > Self.mostFiles { files.removeFirst() }
    }

    /// - Parameter time: where the next file may start.
    public mutating func fileEnded(at time: MediaTimestamp) {
        guard let last = files.indices.last else { return }
        files[last].end = time
    }

    /// A server has all media of this range of capture times.
    /// - Returns: lines for what came before, if this does not continue it.
    public mutating func acknowledged(by target: String, _ range: Range<MediaTimestamp>) -> [Line] {
        guard !range.isEmpty else { return [] }
        guard let before = pending[target] else {
            pending[target] = range
            return []
        }
        if range.lowerBound <= before.upperBound, range.upperBound >= before.lowerBound {
            pending[target] =
                min(before.lowerBound, range.lowerBound)..<max(before.upperBound, range.upperBound)
            return []
        }
        pending[target] = range
        return lines(target, before)
    }

    /// Call it for each fragment: a power cut loses no more than that.
    /// - Returns: lines for all that was acknowledged since.
    public mutating func flush() -> [Line] {
        defer { pending.removeAll() }
        return pending.sorted { $0.key < $1.key }.flatMap { lines($0.key, $0.value) }
    }

    /// - Returns: `nil` if nothing is recorded at that time.
    public func mark(_ text: String, at time: MediaTimestamp) -> Line? {
        guard let file = files.last(where: { $0.start <= time }), file.end.map({ time < $0 }) ?? true else {
            return nil
        }
        return Line(file: file.name, entry: .mark(text: text, at: time - file.start))
    }

    private func lines(_ target: String, _ range: Range<MediaTimestamp>) -> [Line] {
        files.compactMap { file in
            let start = max(range.lowerBound, file.start)
            let end = min(range.upperBound, file.end ?? range.upperBound)
            guard start < end else { return nil }
            return Line(file: file.name, entry: .acknowledged(target: target, start - file.start..<end - file.start))
        }
    }
}

/// A journal as it was read. Lines that are damaged are missing, which leaves gaps rather than hides them.
public struct RecordingJournalContents: Hashable, Sendable {
    public private(set) var nanosecondsSince1970: Int64?
    public private(set) var clockError: Duration?
    /// By the target's name.
    public private(set) var acknowledged: [String: TimeRanges] = [:]
    public private(set) var marks: [Mark] = []

    public struct Mark: Hashable, Sendable {
        public let text: String
        public let time: Duration
    }

    public init(_ entries: [RecordingJournalEntry]) {
        for entry in entries {
            switch entry {
            case .start(let time, let error): (nanosecondsSince1970, clockError) = (time, error)
            case .acknowledged(let target, let range): acknowledged[target, default: TimeRanges()].insert(range)
            case .mark(let text, let time): marks.append(Mark(text: text, time: time))
            }
        }
    }

    /// Times in files are rounded.
    private static let tolerance = Duration.milliseconds(1)

    /// The parts of a file that no acknowledgment of this server covers.
    public func missing(of target: String, until end: Duration) -> TimeRanges {
        let missing = (acknowledged[target] ?? TimeRanges()).missing(in: .zero..<max(.zero, end))
        return TimeRanges(missing.ranges.filter { $0.upperBound - $0.lowerBound > Self.tolerance })
    }

    /// The parts of a file that a server lacks: whole GOPs, which can be decoded by themselves.
    /// - Parameters:
    ///   - keyframes: their times in the file, in order.
    ///   - end: after the last sample's start.
    public func gaps(of target: String, keyframes: [Duration], end: Duration) -> TimeRanges {
        TimeRanges(
            missing(of: target, until: end).ranges.map { range in
                let start = keyframes.last { $0 <= range.lowerBound + Self.tolerance } ?? range.lowerBound
                let next = keyframes.first { $0 >= range.upperBound - Self.tolerance } ?? end
                return start..<next
            })
    }
}
