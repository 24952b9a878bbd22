import Media

/// Decides when to write to a partition of the card: at once when there is something new, one write at a time, and less
/// and less often while writes fail. A full or dying card must not be worn out.
public struct CardFiles: Sendable {
    public struct File: Hashable, Sendable {
        public let name: String
        /// `nil` removes the file.
        public let contents: [UInt8]?

        public init(name: String, contents: [UInt8]?) {
            self.name = name
            self.contents = contents
        }
    }

    public enum Action: Hashable, Sendable {
        /// Write in this order, since there may be room for the first file only. Answered by `written`.
        case write([File])
    }

    /// Pauses after failed attempts, doubled from the first to the last.
    public static let pauses = Duration.seconds(2)...Duration.seconds(300)
    /// Limit of all writes, whatever their reason: this many in a row, then one in each interval.
    public static let writesInARow = 60
    public static let interval = Duration.seconds(60)

    /// The most important file.
    private let first: String
    /// Changes that are not known to be on the card yet.
    private var waiting: [String: [UInt8]?] = [:]
    private var underWay: [File]?
    private var pause = pauses.lowerBound
    private var nextAttempt = MediaTimestamp.zero
    /// When the full number of writes in a row would be allowed again.
    private var allowance = MediaTimestamp.zero
    /// Why the last write failed; `nil` if it succeeded.
    public private(set) var failure: String?

    /// - Parameter first: name of the file to write before the others.
    public init(first: String) { self.first = first }

    /// The file must have these contents from now on; `nil` removes it.
    public mutating func contentsChanged(of name: String, to contents: [UInt8]?, now: MediaTimestamp) -> [Action] {
        if waiting[name] != .some(contents) {
            waiting.updateValue(contents, forKey: name)
            // New contents are worth an attempt. While all attempts fail, the pauses keep growing.
            nextAttempt = min(nextAttempt, now)
        }
        return timePassed(now: now)
    }

    /// To be called every few seconds.
    public mutating func timePassed(now: MediaTimestamp) -> [Action] {
        guard isDue(now: now) else { return [] }
        allowance = max(allowance, now) + Self.interval
        let files = waiting.map { File(name: $0.key, contents: $0.value) }
            .sorted { $0.name == first || $1.name != first && $0.name < $1.name }
        underWay = files
        return [.write(files)]
    }

    /// The power is about to go: write what is waiting now, however many writes there were or failed lately.
    public mutating func endNeared(now: MediaTimestamp) -> [Action] {
        allowance = .zero
        nextAttempt = min(nextAttempt, now)
        return timePassed(now: now)
    }

    /// The answer to `write`.
    /// - Parameters:
    ///   - failed: names of the files that were not written.
    ///   - failure: why; `nil` if none failed.
    public mutating func written(failed: Set<String>, failure: String?, now: MediaTimestamp) -> [Action] {
        for file in underWay ?? [] where !failed.contains(file.name) && waiting[file.name] == .some(file.contents) {
            waiting.removeValue(forKey: file.name)
        }
        underWay = nil
        self.failure = failure
        if failure == nil {
            pause = Self.pauses.lowerBound
            nextAttempt = now
        } else {
            nextAttempt = now + pause
            pause = min(pause + pause, Self.pauses.upperBound)
        }
        return timePassed(now: now)
    }

    /// Whether a write is under way, or would be if there were time.
    public func isBusy(now: MediaTimestamp) -> Bool { underWay != nil || isDue(now: now) }

    private func isDue(now: MediaTimestamp) -> Bool {
        underWay == nil && !waiting.isEmpty && nextAttempt <= now
            && allowance - now <= Self.interval * (Self.writesInARow - 1)
    }
}

/// Checks that the card responds. No thread waits for the card, so this is the only way to find out.
public struct CardWatch: Sendable {
    /// Slow cards can take many seconds; one that does not respond for this long is broken.
    public static let patience = Duration.seconds(60)

    /// When the unanswered jobs were submitted, in order.
    private var times: [MediaTimestamp] = []

    public init() {}

    public mutating func jobGiven(now: MediaTimestamp) { times.append(now) }

    /// The oldest job was answered, and the next one starts.
    public mutating func jobAnswered(now: MediaTimestamp) {
        if !times.isEmpty { times.removeFirst() }
        if !times.isEmpty { times[0] = max(times[0], now) }
    }

    public var isIdle: Bool { times.isEmpty }

    /// The failure to report; `nil` while the card responds.
    public func failure(now: MediaTimestamp) -> String? {
        guard let first = times.first, now - first > Self.patience else { return nil }
        return "the card has not responded for more than \(Int(Self.patience.inSeconds)) s; a live stream continues; "
            + "switch off after it ends and try another card"
    }
}
