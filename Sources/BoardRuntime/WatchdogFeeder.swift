import ApplianceLogic
import LinuxIO
import Media

/// The board's watchdog, kept as `WatchdogCare` says. Used from the main thread, whose own life is proved by its
/// feeding.
package struct WatchdogFeeder {
    /// The longest that the Raspberry Pi's can wait.
    private static let timeout: Int32 = 15

    /// A terminal may stand for the watchdog.
    let isSimulated: Bool
    private var care = WatchdogCare()
    private var device: HardwareWatchdog?
    private var path: String?
    /// Why it cannot be used; `nil` when nothing is wrong with it.
    package private(set) var failure: String?

    package init(isSimulated: Bool) { self.isSimulated = isSimulated }

    /// - Parameter path: the device's; `nil` when the board has none.
    /// - Returns: what is to be reported.
    package mutating func tick(path: String?, now: MediaTimestamp) -> [String] {
        if path != self.path {
            // Another device, or none: the one that there was must not bite.
            _ = perform(care.disarmed())
            self.path = path
            failure = nil
        }
        return perform(care.threadsChecked(working: ThreadActivity.working(), isWanted: path != nil, now: now))
    }

    package mutating func disarm() { _ = perform(care.disarmed()) }

    private mutating func perform(_ actions: [WatchdogCare.Action]) -> [String] {
        var reported: [String] = []
        do {
            for action in actions {
                switch action {
                case .arm:
                    device = try path.map { path throws(SystemCallError) in
                        try HardwareWatchdog(path, seconds: Self.timeout, isSimulated: isSimulated)
                    }
                    failure = nil
                case .feed: try device?.feed()
                case .disarm:
                    device?.disarm()
                    device = nil
                case .tell(let text): reported.append(text)
                }
            }
        } catch {
            device = nil
            care.deviceFailed()
            failure = "must be a watchdog's device: \(error)"
        }
        return reported
    }
}
