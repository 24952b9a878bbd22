import Media

/// What a start of the program means, and whether the stream that it found cut off starts again: a program that dies is
/// started again by init with nobody there to press, and one that dies of its stream must not do so for ever.
///
/// It is kept where it outlives the program and not the machine: after a power cut no stream starts that nobody wants.
public struct StreamResumption: Hashable, Sendable {
    /// So many times within `window`.
    public static let most = 3
    public static let window = Duration.seconds(600)

    public enum Start: Hashable, Sendable {
        /// The first since the machine's start, or since an end in order.
        case first
        /// The program has died, and no stream was wanted.
        case again
        /// It has died under a stream, which is to go on: restart N within the window.
        case resumes(Int)
        /// The same, too often.
        case stands
    }

    private let boot: String
    private var times: [MediaTimestamp] = []
    private var isKnown = false
    public private(set) var isWanted = false
    /// It was paused, and nobody has ended the pause: it starts again paused.
    public private(set) var isPaused = false

    /// - Parameters:
    ///   - text: what `savedText` gave last; `nil` or garbage when there was nothing.
    ///   - boot: a word that names this run of the machine.
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

    /// - Returns: whether that is new, and to be saved.
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
