import LinuxIO
import Media

/// Waits for what another thread is about to do, on a busy machine for long.
/// - Returns: whether the condition came to hold.
public func becomesTrue(within timeout: Duration = .seconds(60), _ condition: () throws -> Bool) rethrows -> Bool {
    let end = MonotonicClock.now() + timeout
    while true {
        if try condition() { return true }
        guard MonotonicClock.now() < end else { return false }
        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5))
    }
}
