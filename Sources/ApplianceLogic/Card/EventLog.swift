import Media

/// The last events as lines of text, and when to write them to the card. Repeated events are counted in their first
/// line, so that they neither push out the others nor wear out the card.
public struct EventLog: Sendable {
    public static let capacity = 200
    /// In characters.
    public static let longestLine = 240
    /// Events that repeat within this time are counted.
    public static let repeatWindow = Duration.seconds(600)
    /// Time between two writes that are not urgent.
    public static let writeInterval = Duration.seconds(600)

    private struct Entry: Sendable {
        let stamp: String
        let text: String
        var count = 1
        var lastStamp = ""
        var lastTime: MediaTimestamp
        let chapter: Int

        var line: String {
            let times = count > 1 ? " (\(count) times, the last \(lastStamp))" : ""
            return String("\(stamp) \(text)".prefix(EventLog.longestLine - times.count)) + times
        }
    }

    private let before: [String]
    private var entries: [Entry] = []
    /// Incremented by each action of a person.
    private var chapter = 0
    /// Something worth writing has not been written.
    private var hasNews = false
    private var hasRepeats = false
    private var lastWrite: MediaTimestamp

    /// - Parameter before: lines from the program's earlier runs.
    public init(before: [String], now: MediaTimestamp) {
        self.before = before.suffix(Self.capacity).map { String($0.prefix(Self.longestLine)) }
        lastWrite = now
    }

    public var lines: [String] { Array(before.suffix(Self.capacity - entries.count)) + entries.map(\.line) }

    public var text: [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }

    /// - Parameters:
    ///   - text: one line without secrets.
    ///   - stamp: the time for people.
    public mutating func happened(_ text: String, stamp: String, now: MediaTimestamp) {
        let known = entries.lastIndex {
            $0.chapter == chapter && $0.text == text && now - $0.lastTime < Self.repeatWindow
        }
        if let known {
            entries[known].count += 1
            entries[known].lastStamp = stamp
            entries[known].lastTime = now
            hasRepeats = true
        } else {
            entries.append(Entry(stamp: stamp, text: text, lastTime: now, chapter: chapter))
            if entries.count > Self.capacity { entries.removeFirst() }
            hasNews = true
        }
    }

    /// From now on, events count as new even if they occurred before.
    public mutating func personActed() { chapter += 1 }

    /// - Parameter isUrgent: it should survive a power cut.
    /// - Returns: the text to write now, if any. It then counts as written.
    public mutating func takeUnwritten(isUrgent: Bool, now: MediaTimestamp) -> [UInt8]? {
        guard hasNews, isUrgent || now - lastWrite >= Self.writeInterval else { return nil }
        return taken(now: now)
    }

    /// The same at the program's end, including the counts of repeated events.
    public mutating func takeLast(now: MediaTimestamp) -> [UInt8]? {
        hasNews || hasRepeats ? taken(now: now) : nil
    }

    private mutating func taken(now: MediaTimestamp) -> [UInt8] {
        hasNews = false
        hasRepeats = false
        lastWrite = now
        return text
    }
}
