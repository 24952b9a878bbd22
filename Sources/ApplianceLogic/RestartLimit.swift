import Media

/// How often the machine may restart itself because nothing else helps: a few times an hour, so that a fault that a
/// restart does not mend ends in a machine that stands and says what is wrong.
///
/// An hour is one of running: a board without a real-time clock knows no other. What is saved is how long before the
/// saving each restart was; time that passed without a saving or without power counts as none, which errs to fewer.
public struct RestartLimit: Hashable, Sendable {
    /// So many within `window`.
    public static let most = 3
    public static let window = Duration.seconds(3600)

    private var times: [MediaTimestamp]
    /// A stream was wanted when the machine restarted itself last, and has not been begun again since.
    public private(set) var resumesStream: Bool

    /// - Parameters:
    ///   - text: what `savedText` gave before the machine's last start; `nil` or garbage when there was nothing.
    ///   - now: time since the machine's start.
    public init(savedText text: String?, now: MediaTimestamp) {
        let words = (text ?? "").split { $0 == " " || $0 == "\n" }
        resumesStream = words.first == "resume"
        let ages = words.compactMap { Int64($0) }.filter { $0 >= 0 && $0 < 1_000_000_000 }
        times = ages.suffix(Self.most).map { now - .seconds($0) }
    }

    /// Nothing but a restart helps.
    /// - Parameter resumesStream: whether a stream is to begin again after it.
    /// - Returns: whether it may be done. The state is to be saved before that, or it must not be done.
    public mutating func restartWanted(resumesStream: Bool, now: MediaTimestamp) -> Bool {
        times.removeAll { now - $0 >= Self.window }
        guard times.count < Self.most else { return false }
        times.append(now)
        self.resumesStream = resumesStream
        return true
    }

    /// The stream that was wanted before the restart begins.
    public mutating func streamResumed() { resumesStream = false }

    /// How many of them are within the window.
    public func count(now: MediaTimestamp) -> Int { times.count { now - $0 < Self.window } }

    public func savedText(now: MediaTimestamp) -> String {
        let ages = times.map { "\(max(0, Int64((now - $0).inSeconds)))" }
        return ((resumesStream ? ["resume"] : ["none"]) + ages).joined(separator: " ") + "\n"
    }
}
