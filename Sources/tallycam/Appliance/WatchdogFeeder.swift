import LinuxIO
import Media

/// Feeds the hardware watchdog as long as the program's threads answer. Used from the main thread, whose own life
/// is proved by its feeding.
struct WatchdogFeeder {
    /// The longest that the Raspberry Pi's can wait.
    private static let timeout: Int32 = 15
    /// A thread that has not answered for so long hangs.
    private static let patience = Duration.seconds(8)

    private var device: HardwareWatchdog?
    private var lastAlive: MediaTimestamp?
    private var hasTold = false

    /// - Returns: something to tell, once.
    mutating func tick(path: String?, isAlive: Bool, now: MediaTimestamp) -> String? {
        guard let path else {
            // One that nobody feeds any more would restart a machine whose description is being mended.
            disarm()
            return nil
        }
        if isAlive || lastAlive == nil { lastAlive = now }
        if let lastAlive, now - lastAlive > Self.patience {
            defer { hasTold = true }
            return hasTold ? nil : "the stream's thread hangs: the watchdog will restart the machine"
        }
        do {
            if device == nil { device = try HardwareWatchdog(path, seconds: Self.timeout) }
            try device?.feed()
            return nil
        } catch {
            defer { hasTold = true }
            return hasTold ? nil : "no watchdog: \(error)"
        }
    }

    mutating func disarm() {
        device?.disarm()
        device = nil
    }
}
