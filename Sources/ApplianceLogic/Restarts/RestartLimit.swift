import Media

/// Limits how often the machine may restart itself when nothing else helps: a few times an hour. If restarts do not
/// cure the fault, the machine finally stays on and reports it.
///
/// The hour counts running time, since a board without a real-time clock knows no other. Saved are the ages of the
/// restarts at the time of saving. Time that passed unsaved or without power is not counted, which only makes restarts
/// rarer.
public struct RestartLimit: Hashable, Sendable {
    public enum Reason: CaseIterable, Sendable {
        /// Every encoder has failed, including the software encoder.
        case everyEncoder
        /// The hardware encoder is dead; streams work without it.
        case hardwareEncoder

        /// The most restarts within `window`, counting those for other reasons as well: if one restart did not cure the
        /// fault, the next one will not.
        public var most: Int {
            switch self {
            case .everyEncoder: 3
            case .hardwareEncoder: 1
            }
        }

        /// The limit for people: "3 times within an hour".
        public var frequency: String { "\(most == 1 ? "once" : "\(most) times") \(RestartLimit.withinWindow)" }
    }

    /// What the stream does after the machine's start.
    public enum StreamAfterwards: String, Sendable {
        /// It was wanted when the machine restarted itself, so it starts again.
        case resumes = "resume"
        /// No stream was wanted when the machine restarted itself, so nothing may start, not even at boot.
        case staysOff = "off"
        /// A person started the machine, or the restart has already been handled.
        case asEver = "none"
    }

    public static let window = Duration.seconds(3600)
    /// "within an hour".
    public static let withinWindow = "within \(window.inWords)"
    private static let mostOfAll = Reason.allCases.map(\.most).max() ?? 0

    /// All restarts, earliest first.
    private var times: [MediaTimestamp]
    public private(set) var streamAfterwards: StreamAfterwards

    /// - Parameters:
    ///   - text: `savedText` from before the machine's last start; `nil` or garbage if there was none.
    ///   - now: time since the machine's start.
    public init(savedText text: String?, now: MediaTimestamp) {
        let words = (text ?? "").split { $0 == " " || $0 == "\n" }
        streamAfterwards = words.first.flatMap { StreamAfterwards(rawValue: String($0)) } ?? .asEver
        let ages = words.compactMap { Int64($0) }.filter { $0 >= 0 && $0 < 1_000_000_000 }
        times = ages.suffix(Self.mostOfAll).map { now - .seconds($0) }.sorted()
    }

    /// Only a restart can help.
    /// - Parameter resumesStream: whether a stream starts again afterwards; otherwise nothing starts.
    /// - Returns: whether to restart. The state must be saved first, otherwise the restart must not happen.
    public mutating func restartWanted(for reason: Reason, resumesStream: Bool, now: MediaTimestamp) -> Bool {
        guard earliest(for: reason, now: now) <= now else { return false }
        times.removeAll { now - $0 >= Self.window }
        times.append(now)
        streamAfterwards = resumesStream ? .resumes : .staysOff
        return true
    }

    /// The earliest time at which the machine may restart for this reason.
    public func earliest(for reason: Reason, now: MediaTimestamp) -> MediaTimestamp {
        let recent = times.filter { now - $0 < Self.window }
        return recent.count < reason.most ? now : recent[recent.count - reason.most] + Self.window
    }

    /// The start after the restart has been handled.
    public mutating func startTaken() { streamAfterwards = .asEver }

    /// Number of restarts within the window.
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
