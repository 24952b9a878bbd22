import JSONText
import Media
import RecordingLogic

/// A catalog as text: a table for 80 columns, or JSON lines.
public enum RecordingListing {
    private static let columns = [27, 19, 8, 8]

    /// Each entry is a line; what a server lacks, and what is wrong, follow in lines of their own.
    public static func table(_ catalog: RecordingCatalog) -> String {
        var text = row(["recording", "start (UTC)", "end", "size"], "state") + "\n"
        for entry in catalog.entries {
            text += row([entry.file, startText(entry), endText(entry), size(entry.byteCount)], entry.condition.name)
            text += "\n"
            for note in notes(entry) { text += "  \(note)\n" }
        }
        return text + summary(catalog)
    }

    private static func row(_ cells: [String], _ last: String) -> String {
        zip(cells, columns).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            // Sizes end below each other.
            return (index == 3 ? padding + cell.0 : cell.0 + padding) + "  "
        }.joined() + last
    }

    private static func time(_ nanoseconds: Int64) -> CalendarTime {
        CalendarTime(secondsSince1970: nanoseconds / 1_000_000_000)
    }

    private static func startText(_ entry: RecordingCatalog.Entry) -> String {
        guard let start = entry.start else { return entry.duration > .zero ? "clock not set" : "" }
        return String(time(start).text.map { $0 == "T" ? " " : $0 }.dropLast())
    }

    /// Without a clock, the length.
    private static func endText(_ entry: RecordingCatalog.Entry) -> String {
        guard entry.duration > .zero else { return "" }
        guard let start = entry.start else { return "\(seconds(entry.duration)) s" }
        return String(time(start &+ entry.duration.wholeNanoseconds).text.dropFirst(11).dropLast())
    }

    private static func seconds(_ duration: Duration) -> String { fixed(duration.inSeconds, decimals: 1) }

    private static func size(_ byteCount: Int) -> String {
        switch byteCount {
        case ..<1_000_000: "\(fixed(Double(byteCount) / 1e3, decimals: 1)) kB"
        case ..<1_000_000_000: "\(fixed(Double(byteCount) / 1e6, decimals: 1)) MB"
        default: "\(fixed(Double(byteCount) / 1e9, decimals: 1)) GB"
        }
    }

    private static func notes(_ entry: RecordingCatalog.Entry) -> [String] {
        var notes: [String] = []
        switch entry.condition {
        case .finished, .unfinished, .empty: break
        case .damaged(let reason), .foreign(let reason): notes.append(reason)
        }
        for gaps in entry.gaps where !gaps.ranges.isEmpty {
            let parts = gaps.ranges.ranges.map { "\(seconds($0.lowerBound))-\(seconds($0.upperBound))" }
            notes.append(
                "\(gaps.target) lacks \(seconds(gaps.ranges.duration)) s: \(parts.joined(separator: ", "))")
        }
        return notes + entry.marks.map { "mark at \(seconds($0.time)) s: \($0.text)" }
    }

    private static func files(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }

    private static func summary(_ catalog: RecordingCatalog) -> String {
        let bytes = catalog.entries.reduce(0) { $0 + $1.byteCount }
        var lines = ["\(files(catalog.entries.count)), \(size(bytes))"]
        var missing: [String: (files: Int, duration: Duration)] = [:]
        for gaps in catalog.entries.flatMap(\.gaps) where !gaps.ranges.isEmpty {
            missing[gaps.target, default: (0, .zero)].files += 1
            missing[gaps.target]?.duration += gaps.ranges.duration
        }
        for (target, sum) in missing.sorted(by: { $0.key < $1.key }) {
            lines.append("\(target) lacks \(seconds(sum.duration)) s in \(files(sum.files))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// One object for each file.
    public static func json(_ catalog: RecordingCatalog) -> [UInt8] {
        var writer = JSONLineWriter()
        var bytes: [UInt8] = []
        for entry in catalog.entries { bytes += writer.line { write(entry, to: $0) } }
        return bytes
    }

    private static func write(_ entry: RecordingCatalog.Entry, to object: borrowing JSONObjectWriter) {
        object.write("file", entry.file)
        object.write("byteCount", entry.byteCount)
        object.write("state", entry.condition.name)
        switch entry.condition {
        case .finished, .unfinished, .empty: break
        case .damaged(let reason), .foreign(let reason): object.write("reason", reason)
        }
        if let start = entry.start {
            object.write("start", time(start).text)
            object.write("end", time(start &+ entry.duration.wholeNanoseconds).text)
            object.write("unixNanoseconds", start)
        }
        if let error = entry.clockError { object.write("clockErrorSeconds", error.inSeconds) }
        object.write("seconds", entry.duration.inSeconds)
        object.writeArray("targets") { targets in
            for gaps in entry.gaps { targets.writeObject { write(gaps, to: $0) } }
        }
        object.writeArray("marks") { marks in
            for mark in entry.marks {
                marks.writeObject { object in
                    object.write("at", mark.time.inSeconds)
                    object.write("text", mark.text)
                }
            }
        }
    }

    private static func write(_ gaps: RecordingCatalog.Gaps, to object: borrowing JSONObjectWriter) {
        object.write("name", gaps.target)
        object.write("missingSeconds", gaps.ranges.duration.inSeconds)
        object.writeArray("gaps") { array in
            for range in gaps.ranges.ranges {
                array.writeObject { object in
                    object.write("from", range.lowerBound.inSeconds)
                    object.write("to", range.upperBound.inSeconds)
                }
            }
        }
    }

    /// A part that was written, for people.
    public static func line(_ written: RecordingGapWriter.Written) -> String {
        let start = written.start.map { ", from \(time($0).text)" } ?? ""
        return "\(written.path): \(written.target) lacks \(written.frameCount) frames in "
            + "\(seconds(written.range.upperBound - written.range.lowerBound)) s\(start)"
    }

    public static func json(_ written: RecordingGapWriter.Written) -> [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            object.write("file", written.path)
            object.write("target", written.target)
            object.write("from", written.range.lowerBound.inSeconds)
            object.write("to", written.range.upperBound.inSeconds)
            if let start = written.start { object.write("unixNanoseconds", start) }
            object.write("frames", written.frameCount)
            object.write("byteCount", written.byteCount)
        }
    }
}
