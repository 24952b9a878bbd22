import Media

/// Decides what a start of the program means, and whether to resume the stream that was cut off. Init restarts a
/// program that crashed when no person may be there to press the button, but a stream that keeps crashing it must not
/// restart forever.
///
/// The state is kept where it survives the program but not the machine, so that no unwanted stream starts after a power
/// cut.
public struct StreamResumption: Hashable, Sendable {
    /// The most resumptions within `window`.
    public static let most = 3
    public static let window = Duration.seconds(600)

    public enum Start: Hashable, Sendable {
        /// The first since the machine's start, or since a proper end.
        case first
        /// The program crashed while no stream was wanted.
        case again
        /// The program crashed during a stream, which is resumed: restart N within the window.
        case resumes(Int)
        /// The same, but too often.
        case stands
    }

    private let boot: String
    private var times: [MediaTimestamp] = []
    private var isKnown = false
    public private(set) var isWanted = false
    /// It was paused by a person and resumes paused.
    public private(set) var isPaused = false

    /// - Parameters:
    ///   - text: the last `savedText`; `nil` or garbage if there was none.
    ///   - boot: a word that identifies this run of the machine.
    public init(savedText text: String?, boot: String) {
        self.boot = boot
        let words = (text ?? "").split { $0 == " " || $0 == "\n" }
        guard words.count >= 2, words[1] == boot, ["wanted", "paused", "idle"].contains(words[0]) else { return }
        isKnown = true
        isPaused = words[0] == "paused"
        isWanted = isPaused || words[0] == "wanted"
        times = words.dropFirst(2).suffix(Self.most).compactMap { word in
            Int64(word).flatMap { (0..<1_000_000_000_000).contains($0) ? MediaTimestamp(milliseconds: $0) : nil }
        }
    }

    /// - Parameter now: time since the machine's start.
    public mutating func programStarted(now: MediaTimestamp) -> Start {
        guard isKnown else { return .first }
        guard isWanted else { return .again }
        times.removeAll { now - $0 >= Self.window || now < $0 }
        guard times.count < Self.most else {
            (isWanted, isPaused) = (false, false)
            return .stands
        }
        times.append(now)
        return .resumes(times.count)
    }

    /// - Returns: whether the state changed and must be saved.
    public mutating func wishChanged(to isWanted: Bool, isPaused: Bool = false) -> Bool {
        defer { (self.isWanted, self.isPaused) = (isWanted, isWanted && isPaused) }
        return self.isWanted != isWanted || self.isPaused != (isWanted && isPaused)
    }

    public var savedText: String {
        let words =
            [isPaused ? "paused" : isWanted ? "wanted" : "idle", boot] + times.map { "\($0.nanoseconds / 1_000_000)" }
        return words.joined(separator: " ") + "\n"
    }
}
