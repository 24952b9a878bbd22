import Media

/// Tells presses of one button apart: short, twice in a row, long, and far too long.
///
/// An edge is answered at once, and the contact may then bounce for `debounce` without being looked at. Released within
/// `debounce`: noise. A button that is down when the device starts counts from its release on.
///
/// Where a double press means something, a short press counts when no second one has followed within `doublePressWindow`;
/// elsewhere on its release.
public struct ButtonGestures: Sendable {
    public enum Action: Hashable, Sendable {
        /// Down: let the person see that it was noticed.
        case acknowledgePress
        /// Held for `longPress`: let the person see that releasing now powers off.
        case acknowledgeLongPress
        /// It was none: a disturbance, or held so long that nobody means it. Releasing does nothing.
        case forgetPress
        case shortPress
        case doublePress
        case longPress
        /// Call `timerFired` then; replaces the timer before, `nil` ends it.
        case setTimer(MediaTimestamp?)
    }

    /// Contacts of push buttons bounce for a few milliseconds, bad ones for 20.
    public static let debounce: Duration = .milliseconds(30)
    public static let longPress: Duration = .seconds(3)
    /// What lies on the button, or a button that is stuck, must not power the device off.
    public static let forgottenPress: Duration = .seconds(10)
    /// From the release of one press to the next press, for both to be one double press.
    public static let doublePressWindow: Duration = .milliseconds(300)

    private enum State {
        case up
        /// Down since before it could be meant, or for too long.
        case ignored
        case down(since: MediaTimestamp)
        case longDown(since: MediaTimestamp)
    }

    private var state: State
    /// The line's last level, bounces included.
    private var level: Bool
    private var settledAt: MediaTimestamp?
    /// When a short press was released that a second one may follow.
    private var firstRelease: MediaTimestamp?
    /// Whether two short presses in a row mean something of their own.
    public var hearsDoublePress: Bool

    /// - Parameter isPressed: what the line says at the start.
    public init(isPressed: Bool, hearsDoublePress: Bool = false) {
        level = isPressed
        state = isPressed ? .ignored : .up
        self.hearsDoublePress = hearsDoublePress
    }

    /// The line changed. Times must not fall.
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
            // Whoever holds the button after a short press wants what holding it does.
            firstRelease = nil
            actions.append(.acknowledgeLongPress)
        case .longDown(let since) where now - since >= Self.forgottenPress:
            state = .ignored
            actions.append(.forgetPress)
        default: break
        }
        return actions + [.setTimer(nextDeadline)]
    }

    /// Brings the state in line with the level.
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

    /// The time held decides, also where a busy program let the timers come late.
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

    /// A short press that no second one has followed in time.
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
