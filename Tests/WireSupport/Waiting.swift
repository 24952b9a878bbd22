import LinuxIO
import Media

/// Waits for something that another thread is about to do, which may take long on a busy machine.
/// - Returns: whether the condition became true.
public func becomesTrue(within timeout: Duration = .seconds(60), _ condition: () throws -> Bool) rethrows -> Bool {
    let end = MonotonicClock.now() + timeout
    while true {
        // After a wait in virtual time, all other threads rest, except those that something else wakes at the same moment: hence
        // no round number.
        MonotonicClock.sleep(until: MonotonicClock.now() + .microseconds(4_999))
        if try condition() { return true }
        guard MonotonicClock.now() < end else { return false }
    }
}
