import ApplianceLogic
import LinuxIO
import Media

/// The board's watchdog, operated according to `WatchdogCare`. Fed by the main thread, which proves that the thread is alive.
package struct WatchdogFeeder {
    /// The longest timeout of the Raspberry Pi's watchdog.
    private static let timeout: Int32 = 15

    /// Whether a terminal may stand in for the watchdog.
    let isSimulated: Bool
    private var care = WatchdogCare()
    private var device: HardwareWatchdog?
    private var path: String?
    /// Why the watchdog cannot be used; `nil` if it works.
    package private(set) var failure: String?

    package init(isSimulated: Bool) { self.isSimulated = isSimulated }

    /// - Parameter path: the device's path; `nil` if the board has none.
    /// - Returns: messages to report.
    package mutating func tick(path: String?, now: MediaTimestamp) -> [String] {
        if path != self.path {
            // The path changed: the old watchdog must not trigger.
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
