import LinuxIO
import Media

/// Waits for something that another thread is about to do, which may take long on a busy machine.
/// - Returns: whether the condition became true.
public func becomesTrue(within timeout: Duration = .seconds(60), _ condition: () throws -> Bool) rethrows -> Bool {
    let end = MonotonicClock.now() + timeout
    while true {
        // A wait in virtual time ends when all other threads rest, except one whose own wait ends at the same moment. Hence no
        // round number.
        MonotonicClock.sleep(until: MonotonicClock.now() + .microseconds(4_999))
        if try condition() { return true }
        guard MonotonicClock.now() < end else { return false }
    }
}
