import JSONText
import Media
import RecordingLogic
import Settings

/// The text of a journal: JSON lines.
///
///     {"start":"2026-11-26T13:39:05Z","unixNanoseconds":1795700345120000000,"clockErrorSeconds":0.02}
///     {"target":"youtube","from":0.0,"to":12.04}
///     {"mark":"goal","at":31.5}
public enum JournalText {
    /// A journal is read up to this size.
    public static let largest = 1 << 20

    public static func line(_ entry: RecordingJournalEntry) -> [UInt8] {
        var writer = JSONLineWriter()
        return writer.line { object in
            switch entry {
            case .start(let time, let error):
                if let time {
                    object.write("start", CalendarTime(secondsSince1970: time / 1_000_000_000).text)
                    object.write("unixNanoseconds", time)
                } else {
                    object.writeNull("start")
                }
                if let error { object.write("clockErrorSeconds", error.inSeconds) }
            case .acknowledged(let target, let range):
                object.write("target", target)
                object.write("from", range.lowerBound.inSeconds)
                object.write("to", range.upperBound.inSeconds)
            case .mark(let text, let time):
                object.write("mark", text)
                object.write("at", time.inSeconds)
            }
        }
    }

    /// Lines that are damaged or unknown are skipped.
    public static func entries(in text: [UInt8]) -> [RecordingJournalEntry] {
        text.split(separator: 0x0A).compactMap { line in
            guard let value = try? JSONValue(parsing: Array(line), limits: JSONLimits(byteCount: 4096, depth: 4)) else {
                return nil
            }
            return entry(value)
        }
    }

    private static func entry(_ value: JSONValue) -> RecordingJournalEntry? {
        if let target = string(value["target"]) {
            guard let from = duration(value["from"]), let to = duration(value["to"]), from < to else { return nil }
            return .acknowledged(target: target, from..<to)
        }
        if let text = string(value["mark"]) {
            return duration(value["at"]).map { .mark(text: text, at: $0) }
        }
        guard value["start"] != nil else { return nil }
        var time: Int64?
        if case .integer(let nanoseconds)? = value["unixNanoseconds"]?.content { time = nanoseconds }
        return .start(nanosecondsSince1970: time, clockError: duration(value["clockErrorSeconds"]))
    }

    private static func string(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value?.content { text } else { nil }
    }

    /// From 0 to 11 days.
    private static func duration(_ value: JSONValue?) -> Duration? {
        let seconds: Double
        switch value?.content {
        case .integer(let number): seconds = Double(number)
        case .number(let number): seconds = number
        default: return nil
        }
        guard (0...1_000_000).contains(seconds) else { return nil }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }
}
