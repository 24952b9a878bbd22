import Media

/// Decides when a partition of the card is written: at once when there is something new, one write at a time, and less
/// and less often while writing fails. A card that is full or dying is not to be worn out.
public struct CardFiles: Sendable {
    public struct File: Hashable, Sendable {
        public let name: String
        /// `nil` removes it.
        public let contents: [UInt8]?

        public init(name: String, contents: [UInt8]?) {
            self.name = name
            self.contents = contents
        }
    }

    public enum Action: Hashable, Sendable {
        /// In this order, for there may be room for the first one only. It is answered by `written`.
        case write([File])
    }

    /// Between attempts that fail: doubled from the first to the last.
    public static let pauses = Duration.seconds(2)...Duration.seconds(300)
    /// Whatever comes and goes: so many writes in a row, and one in each interval after that.
    public static let writesInARow = 60
    public static let interval = Duration.seconds(60)

    /// What matters most.
    private let first: String
    /// What is not on the card yet, as far as is known.
    private var waiting: [String: [UInt8]?] = [:]
    private var underWay: [File]?
    private var pause = pauses.lowerBound
    private var nextAttempt = MediaTimestamp.zero
    /// When all of the writes in a row would be allowed again.
    private var allowance = MediaTimestamp.zero
    /// Why the last write failed; `nil` when it did not.
    public private(set) var failure: String?

    /// - Parameter first: the name of the file that is written before others.
    public init(first: String) { self.first = first }

    /// A file is to be so from now on; `nil` removes it.
    public mutating func contentsChanged(of name: String, to contents: [UInt8]?, now: MediaTimestamp) -> [Action] {
        if waiting[name] != .some(contents) {
            waiting.updateValue(contents, forKey: name)
            // What is new is worth an attempt. While all of them fail, the pauses go on growing.
            nextAttempt = min(nextAttempt, now)
        }
        return timePassed(now: now)
    }

    /// Some time has passed: to be called every few seconds.
    public mutating func timePassed(now: MediaTimestamp) -> [Action] {
        guard isDue(now: now) else { return [] }
        allowance = max(allowance, now) + Self.interval
        let files = waiting.map { File(name: $0.key, contents: $0.value) }
            .sorted { $0.name == first || $1.name != first && $0.name < $1.name }
        underWay = files
        return [.write(files)]
    }

    /// The power is about to go: what waits is tried now, however often there was a write, or how lately one has failed.
    public mutating func endNeared(now: MediaTimestamp) -> [Action] {
        allowance = .zero
        nextAttempt = min(nextAttempt, now)
        return timePassed(now: now)
    }

    /// The answer to `write`.
    /// - Parameters:
    ///   - failed: the names of those that are not as they were to be.
    ///   - failure: why; `nil` when nothing has failed.
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

    /// Whether a write is under way, or would be if there was time for it.
    public func isBusy(now: MediaTimestamp) -> Bool { underWay != nil || isDue(now: now) }

    private func isDue(now: MediaTimestamp) -> Bool {
        underWay == nil && !waiting.isEmpty && nextAttempt <= now
            && allowance - now <= Self.interval * (Self.writesInARow - 1)
    }
}

/// Watches that the card answers. Nobody waits for it, and so nobody else would see it.
public struct CardWatch: Sendable {
    /// Slow cards make one wait for many seconds; what has not answered for so long is broken.
    public static let patience = Duration.seconds(60)

    /// When the jobs were given that are not answered yet, in their order.
    private var times: [MediaTimestamp] = []

    public init() {}

    public mutating func jobGiven(now: MediaTimestamp) { times.append(now) }

    /// The oldest job was answered. The next one starts now.
    public mutating func jobAnswered(now: MediaTimestamp) {
        if !times.isEmpty { times.removeFirst() }
        if !times.isEmpty { times[0] = max(times[0], now) }
    }

    public var isIdle: Bool { times.isEmpty }

    /// What is to be reported; `nil` while the card answers.
    public func failure(now: MediaTimestamp) -> String? {
        guard let first = times.first, now - first > Self.patience else { return nil }
        return "the card has not answered for more than \(Int(Self.patience.inSeconds)) s; what is live goes on; "
            + "switch off when that is over, and try another card"
    }
}
