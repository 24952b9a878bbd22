import Media

/// The last events as lines of text, and when they are worth a write to the card. What is tried again and again is
/// counted where it was reported first, so that it neither pushes everything else out nor wears the card.
public struct EventLog: Sendable {
    public static let capacity = 200
    /// In characters.
    public static let longestLine = 240
    /// What comes again so soon is counted.
    public static let repeatWindow = Duration.seconds(600)
    /// Between two writes that nothing urges.
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
    /// What a person has done starts a new one.
    private var chapter = 0
    /// Something is not written that is worth it.
    private var hasNews = false
    private var hasRepeats = false
    private var lastWrite: MediaTimestamp

    /// - Parameter before: the lines of the program's earlier runs.
    public init(before: [String], now: MediaTimestamp) {
        self.before = before.suffix(Self.capacity).map { String($0.prefix(Self.longestLine)) }
        lastWrite = now
    }

    public var lines: [String] { Array(before.suffix(Self.capacity - entries.count)) + entries.map(\.line) }

    public var text: [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }

    /// - Parameters:
    ///   - text: without secrets, one line.
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

    /// What comes from now on is news even if it came before.
    public mutating func personActed() { chapter += 1 }

    /// - Parameter isUrgent: somebody may want to know about it after a power cut.
    /// - Returns: what is to be written now, if anything; it counts as written.
    public mutating func takeUnwritten(isUrgent: Bool, now: MediaTimestamp) -> [UInt8]? {
        guard hasNews, isUrgent || now - lastWrite >= Self.writeInterval else { return nil }
        return taken(now: now)
    }

    /// The same at the program's end, with the counts of what was repeated.
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
