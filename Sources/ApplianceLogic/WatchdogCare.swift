import Media

/// Decides when the hardware watchdog is fed: while nothing hangs.
public struct WatchdogCare: Sendable {
    public enum Action: Hashable, Sendable {
        /// Open the device, which starts it. What fails is answered by `deviceFailed`.
        case arm
        case feed
        /// Stop it and close it.
        case disarm
        case tell(String)
    }

    /// A thread that has been at one piece of work for so long hangs.
    public static let patience: Duration = .seconds(8)

    private var isArmed = false
    private var hasReportedHang = false

    public init() {}

    /// The threads were looked at, as every few seconds.
    /// - Parameters:
    ///   - working: every thread that waits for nothing, and since when.
    ///   - isWanted: whether the board's description names a watchdog.
    public mutating func threadsChecked(
        working: [(name: String, since: MediaTimestamp)], isWanted: Bool, now: MediaTimestamp
    ) -> [Action] {
        // One that nobody feeds any more would restart a machine whose description is being mended.
        guard isWanted else { return disarmed() }
        // What hangs is to end in a restart even if it hung before the watchdog was wanted.
        var actions: [Action] = isArmed ? [] : [.arm]
        isArmed = true
        let hanging = working.filter { now - $0.since > Self.patience }.map(\.name)
        if hanging.isEmpty {
            hasReportedHang = false
            actions.append(.feed)
        } else if !hasReportedHang {
            hasReportedHang = true
            let names = hanging.map { "\"\($0)\"" }.joined(separator: ", ")
            actions.append(.tell("the thread \(names) hangs: the watchdog will restart the machine"))
        }
        return actions
    }

    /// It is not open, or was lost; the next look tries again.
    public mutating func deviceFailed() { isArmed = false }

    /// The program ends as it was meant to, or no watchdog is wanted any more. Nothing of before counts after it.
    public mutating func disarmed() -> [Action] {
        defer { self = Self() }
        return isArmed ? [.disarm] : []
    }
}
