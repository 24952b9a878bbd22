import Media

/// Decides when to feed the hardware watchdog: as long as no thread hangs.
public struct WatchdogCare: Sendable {
    public enum Action: Hashable, Sendable {
        /// Open the device, which starts it. Failure is answered by `deviceFailed`.
        case arm
        case feed
        /// Stop it and close it.
        case disarm
        case tell(String)
    }

    /// A thread that works on one job for this long counts as hanging.
    public static let patience: Duration = .seconds(8)

    private var isArmed = false
    private var hasReportedHang = false

    public init() {}

    /// The threads were checked; to be called every few seconds.
    /// - Parameters:
    ///   - working: every busy thread, and since when.
    ///   - isWanted: whether the board's description names a watchdog.
    public mutating func threadsChecked(
        working: [(name: String, since: MediaTimestamp)], isWanted: Bool, now: MediaTimestamp
    ) -> [Action] {
        // An unfed watchdog would restart the machine while its description is being repaired.
        guard isWanted else { return disarmed() }
        // A thread that hangs must end in a restart even if it hung before the watchdog was wanted.
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

    /// The device could not be opened, or was lost; the next check retries.
    public mutating func deviceFailed() { isArmed = false }

    /// The program ends normally, or the watchdog is no longer wanted. All earlier state is discarded.
    public mutating func disarmed() -> [Action] {
        defer { self = Self() }
        return isArmed ? [.disarm] : []
    }
}
