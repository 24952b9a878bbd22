import Bitstream
import Glibc
import LinuxIO
import Media
import RecordingLogic

/// Why the gaps of a recording cannot be written.
public enum RecordingGapError: Error, Hashable, Sendable {
    case unreadable(SystemCallError)
    case damaged(path: String)
    case noJournal(path: String)
    /// No journal of the folder names a server.
    case noTarget(path: String)
    case unknownTarget(String, known: [String])
    case unwritable(SystemCallError)
}

extension RecordingGapError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let error): error.fileProblem
        case .damaged(let path): "\(path) is not an MP4 file that can be read; see tallycam recordings"
        case .noJournal(let path):
            "\(path) has no journal beside it (.jsonl), which says what servers have acknowledged"
        case .noTarget(let path):
            "no server has acknowledged anything beside \(path): it is missing as a whole"
        case .unknownTarget(let name, let known):
            "no journal names the target \(name)"
                + (known.isEmpty ? "" : "; there \(known.count == 1 ? "is" : "are") \(known.joined(separator: ", "))")
        case .unwritable(let error):
            error.fileProblem + (error.number == EEXIST ? "; remove it, or give another --output" : "")
        }
    }
}

/// Writes the parts of a recording that a server lacks, each as a file of its own, cut at keyframes.
public struct RecordingGapWriter {
    /// A part that was written.
    public struct Written: Hashable, Sendable {
        public let path: String
        public let target: String
        /// In the recording.
        public let range: Range<Duration>
        /// UNIX nanoseconds; `nil` if the clock was not set.
        public let start: Int64?
        public let frameCount: Int
        public let byteCount: Int
    }

    private let name: String
    private let file: LinuxRecordingFile
    private let index: RecordingIndex
    private let journal: RecordingJournalContents
    /// The servers whose gaps are written.
    public let targets: [String]

    /// - Parameters:
    ///   - path: a recording with its journal beside it.
    ///   - target: `nil` for all that the folder's journals name.
    public init(_ path: String, target: String?) throws(RecordingGapError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.count > 1 ? parts.dropLast().joined(separator: "/") : "."
        let last = String(parts.last ?? "")
        name = last.hasSuffix(".mp4") ? String(last.dropLast(4)) : last
        let known: [String]
        let index: RecordingIndex?
        do throws(SystemCallError) {
            file = try LinuxRecordingFile(path, flags: O_RDONLY | O_NONBLOCK)
            index = try RecordingIndex(file)
            known = try RecordingCatalog.targets(in: folder.isEmpty ? "/" : folder)
        } catch {
            throw .unreadable(error)
        }
        guard let index else { throw .damaged(path: path) }
        self.index = index
        let journalPath = "\(path.hasSuffix(".mp4") ? String(path.dropLast(4)) : path).jsonl"
        guard let text = try? readRegularFile(journalPath, limit: JournalText.largest) else {
            throw .noJournal(path: path)
        }
        journal = RecordingJournalContents(JournalText.entries(in: text))
        let all = Set(known + journal.acknowledged.keys).sorted()
        if let target, !all.contains(target) { throw .unknownTarget(target, known: all) }
        guard !all.isEmpty else { throw .noTarget(path: path) }
        targets = target.map { [$0] } ?? all
    }

    /// Writes the gaps of all `targets`.
    /// - Parameter folder: where to; no existing file is replaced.
    public func write(to folder: String) throws(RecordingGapError) -> [Written] {
        var written: [Written] = []
        for target in targets {
            for (number, range) in index.gaps(of: target, journal).ranges.enumerated() {
                let path = "\(folder)/\(name).\(Self.fileName(target))-\(number + 1).mp4"
                written.append(try write(range, of: target, to: path))
            }
        }
        return written
    }

    /// FAT allows these characters.
    private static func fileName(_ target: String) -> String {
        String(
            target.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") ? $0 : "-" }.prefix(40))
    }

    private func write(
        _ range: Range<Duration>, of target: String, to path: String
    ) throws(RecordingGapError) -> Written {
        let tracks: MP4RecordedTracks
        do throws(BitstreamError) {
            tracks = try index.tracks()
        } catch {
            throw .damaged(path: path)
        }
        let start = journal.nanosecondsSince1970.map { $0 &+ range.lowerBound.wholeNanoseconds }
        var writer = MP4RecordingWriter(
            tracks, start: .zero + range.lowerBound, creation: start.map { $0 / 1_000_000_000 })
        let byteCount: Int
        do throws(SystemCallError) {
            let output = try LinuxRecordingFile(path, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
            try perform(writer.begin(), on: output)
            for item in index.items(in: range) { try append(item, &writer, output) }
            try perform(writer.endFragment(nextFrame: nil, clock: clock), on: output)
            try perform(writer.finish(), on: output)
            byteCount = try output.byteCount
        } catch {
            throw .unwritable(error)
        }
        return Written(
            path: path, target: target, range: range, start: start, frameCount: writer.frameCount, byteCount: byteCount)
    }

    /// Zero is the recording's start.
    private var clock: MP4WallClock? { journal.nanosecondsSince1970.map { MP4WallClock(offset: $0) } }

    private func append(
        _ item: RecordingIndex.Item, _ writer: inout MP4RecordingWriter, _ output: LinuxRecordingFile
    ) throws(SystemCallError) {
        let time = MediaTimestamp.zero + item.time
        if item.kind == .video(isKeyframe: true) || writer.openByteCount > 4 << 20 {
            try perform(writer.endFragment(nextFrame: item.kind.isVideo ? time : nil, clock: clock), on: output)
        }
        _ = writer.append(
            EncodedPacket(
                kind: item.kind, decodeTime: time, compositionOffset: item.compositionOffset,
                payload: try file.read(at: item.sample.offset, count: item.sample.byteCount)))
    }

    private func perform(_ steps: [MP4FileStep], on output: LinuxRecordingFile) throws(SystemCallError) {
        for step in steps where step != .synchronize { try output.perform(step) }
    }
}
