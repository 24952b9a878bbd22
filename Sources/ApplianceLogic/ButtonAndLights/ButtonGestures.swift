import Media

/// Distinguishes presses of one button: short, double, long, and too long.
///
/// An edge is handled at once; for `debounce` after it, the contact may bounce and is ignored. A release within
/// `debounce` is noise. A button that is down when the device starts counts from its release on.
///
/// If double presses are used, a short press counts when no second one follows within `doublePressWindow`; otherwise on
/// its release.
public struct ButtonGestures: Sendable {
    public enum Action: Hashable, Sendable {
        /// Down: show the person that the press was detected.
        case acknowledgePress
        /// Held for `longPress`: show the person that releasing it now powers the device off.
        case acknowledgeLongPress
        /// Not a press: noise, or held too long to be meant. Releasing it does nothing.
        case forgetPress
        case shortPress
        case doublePress
        case longPress
        /// Call `timerFired` at this time. Replaces the previous timer; `nil` cancels it.
        case setTimer(MediaTimestamp?)
    }

    /// Contacts of push buttons bounce for a few milliseconds, bad ones for 20.
    public static let debounce: Duration = .milliseconds(30)
    public static let longPress: Duration = .seconds(3)
    /// A button that is stuck, or has something lying on it, must not power the device off.
    public static let forgottenPress: Duration = .seconds(10)
    /// Longest time from the release of one press to the next press of a double press.
    public static let doublePressWindow: Duration = .milliseconds(300)

    private enum State {
        case up
        /// Down since before the start, or for too long.
        case ignored
        case down(since: MediaTimestamp)
        case longDown(since: MediaTimestamp)
    }

    private var state: State
    /// The line's last level, including bounces.
    private var level: Bool
    private var settledAt: MediaTimestamp?
    /// When a short press was released that may become a double press.
    private var firstRelease: MediaTimestamp?
    /// Whether double presses are used.
    public var hearsDoublePress: Bool

    /// - Parameter isPressed: the line's level at the start.
    public init(isPressed: Bool, hearsDoublePress: Bool = false) {
        level = isPressed
        state = isPressed ? .ignored : .up
        self.hearsDoublePress = hearsDoublePress
    }

    /// The line changed. Times must not decrease.
    public mutating func levelChanged(isPressed: Bool, now: MediaTimestamp) -> [Action] {
        level = isPressed
        if let settledAt, now < settledAt { return [] }
        return singlePress(now: now) + followed(now: now) + [.setTimer(nextDeadline)]
    }

    public mutating func timerFired(now: MediaTimestamp) -> [Action] {
        var actions = singlePress(now: now)
        if let settledAt, settledAt <= now {
            self.settledAt = nil
            if case .down(let since) = state, !level, settledAt - since <= Self.debounce {
                state = .up
                actions.append(.forgetPress)
            }
            actions += followed(now: now)
        }
        switch state {
        case .down(let since) where now - since >= Self.longPress:
            state = .longDown(since: since)
            // Holding the button after a short press means a long press.
            firstRelease = nil
            actions.append(.acknowledgeLongPress)
        case .longDown(let since) where now - since >= Self.forgottenPress:
            state = .ignored
            actions.append(.forgetPress)
        default: break
        }
        return actions + [.setTimer(nextDeadline)]
    }

    /// Updates the state to match the level.
    private mutating func followed(now: MediaTimestamp) -> [Action] {
        switch (state, level) {
        case (.up, true):
            state = .down(since: now)
            settledAt = now + Self.debounce
            return [.acknowledgePress]
        case (.down(let since), false): return released(held: now - since, now: now)
        case (.longDown(let since), false): return released(held: now - since, now: now)
        case (.ignored, false):
            state = .up
            settledAt = now + Self.debounce
            return []
        case (.up, false), (.down, true), (.longDown, true), (.ignored, true): return []
        }
    }

    /// The time held decides, even if a busy program handled the timers late.
    private mutating func released(held: Duration, now: MediaTimestamp) -> [Action] {
        state = .up
        settledAt = now + Self.debounce
        let isSecond = firstRelease != nil
        firstRelease = nil
        if held >= Self.forgottenPress { return [.forgetPress] }
        if held >= Self.longPress { return [.longPress] }
        if isSecond { return [.doublePress] }
        guard hearsDoublePress else { return [.shortPress] }
        firstRelease = now
        return []
    }

    /// A short press that was not followed by a second one in time.
    private mutating func singlePress(now: MediaTimestamp) -> [Action] {
        guard case .up = state, let deadline = doublePressDeadline, deadline <= now else { return [] }
        firstRelease = nil
        return [.shortPress]
    }

    private var doublePressDeadline: MediaTimestamp? { firstRelease.map { $0 + Self.doublePressWindow } }

    private var nextDeadline: MediaTimestamp? {
        let gesture: MediaTimestamp? =
            switch state {
            case .up: doublePressDeadline
            case .ignored: nil
            case .down(let since): since + Self.longPress
            case .longDown(let since): since + Self.forgottenPress
            }
        return [settledAt, gesture].compactMap { $0 }.min()
    }
}
