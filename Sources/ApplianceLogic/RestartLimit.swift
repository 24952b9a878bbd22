import Media

/// How often the machine may restart itself because nothing else helps: a few times an hour, so that a fault that a
/// restart does not mend ends in a machine that stands and says what is wrong.
///
/// An hour is one of running: a board without a real-time clock knows no other. What is saved is how long before the
/// saving each restart was; time that passed without a saving or without power counts as none, which errs to fewer.
public struct RestartLimit: Hashable, Sendable {
    public enum Reason: CaseIterable, Sendable {
        /// Every encoder has failed, the software's too.
        case everyEncoder
        /// The hardware encoder is dead; streams do without it.
        case hardwareEncoder

        /// So many within `window`, with those for other reasons: what one restart has not mended, the next does not.
        public var most: Int {
            switch self {
            case .everyEncoder: 3
            case .hardwareEncoder: 1
            }
        }

        /// The limit for people: "3 times within an hour".
        public var frequency: String { "\(most == 1 ? "once" : "\(most) times") \(RestartLimit.withinWindow)" }
    }

    /// What becomes of the stream after the machine's start.
    public enum StreamAfterwards: String, Sendable {
        /// It was wanted when the machine restarted itself, and starts again.
        case resumes = "resume"
        /// Nothing was wanted when the machine restarted itself, which must not start anything: not even at boot.
        case staysOff = "off"
        /// The machine's start was a person's, or was taken up already.
        case asEver = "none"
    }

    public static let window = Duration.seconds(3600)
    /// "within an hour".
    public static let withinWindow = "within \(window.inWords)"
    private static let mostOfAll = Reason.allCases.map(\.most).max() ?? 0

    /// Of all restarts, the earliest first.
    private var times: [MediaTimestamp]
    public private(set) var streamAfterwards: StreamAfterwards

    /// - Parameters:
    ///   - text: what `savedText` gave before the machine's last start; `nil` or garbage when there was nothing.
    ///   - now: time since the machine's start.
    public init(savedText text: String?, now: MediaTimestamp) {
        let words = (text ?? "").split { $0 == " " || $0 == "\n" }
        streamAfterwards = words.first.flatMap { StreamAfterwards(rawValue: String($0)) } ?? .asEver
        let ages = words.compactMap { Int64($0) }.filter { $0 >= 0 && $0 < 1_000_000_000 }
        times = ages.suffix(Self.mostOfAll).map { now - .seconds($0) }.sorted()
    }

    /// Nothing but a restart helps.
    /// - Parameter resumesStream: whether a stream is to start again after it; nothing starts otherwise.
    /// - Returns: whether it may be done. The state is to be saved before that, or it must not be done.
    public mutating func restartWanted(for reason: Reason, resumesStream: Bool, now: MediaTimestamp) -> Bool {
        guard earliest(for: reason, now: now) <= now else { return false }
        times.removeAll { now - $0 >= Self.window }
        times.append(now)
        streamAfterwards = resumesStream ? .resumes : .staysOff
        return true
    }

    /// When the machine may restart for this reason: now, or later.
    public func earliest(for reason: Reason, now: MediaTimestamp) -> MediaTimestamp {
        let recent = times.filter { now - $0 < Self.window }
        return recent.count < reason.most ? now : recent[recent.count - reason.most] + Self.window
    }

    /// The start after the restart has been taken up.
    public mutating func startTaken() { streamAfterwards = .asEver }

    /// How many of them are within the window.
    public func count(now: MediaTimestamp) -> Int { times.count { now - $0 < Self.window } }

    public func savedText(now: MediaTimestamp) -> String {
        let ages = times.map { "\(max(0, Int64((now - $0).inSeconds)))" }
        return ([streamAfterwards.rawValue] + ages).joined(separator: " ") + "\n"
    }
}

extension Duration {
    /// "an hour", "90 minutes": whole minutes, and hours where those are whole.
    var inWords: String {
        let minutes = Int(inSeconds / 60)
        let (count, unit, one) =
            minutes % 60 == 0 ? (minutes / 60, "hours", "an hour") : (minutes, "minutes", "a minute")
        return count == 1 ? one : "\(count) \(unit)"
    }
}
