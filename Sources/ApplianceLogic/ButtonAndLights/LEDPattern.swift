import Media

/// A pattern of one LED: alternately lit and dark, starting lit.
///
/// The patterns differ in ways that are visible without color: steady, even and slow, even and fast, short flashes, a
/// flicker, short gaps, and counts.
public struct LEDPattern: Hashable, Sendable {
    /// Lit, dark, lit, dark, ...; empty for a steady LED.
    public let steps: [Duration]
    public let startsLit: Bool

    private init(_ milliseconds: [Int], startsLit: Bool = true) {
        steps = milliseconds.map { .milliseconds($0) }
        self.startsLit = startsLit
    }

    public static let off = LEDPattern([], startsLit: false)
    /// Live.
    public static let steady = LEDPattern([])
    /// Boot: even and slow.
    public static let slow = LEDPattern([500, 500])
    /// Connecting: even and fast.
    public static let fast = LEDPattern([125, 125])
    /// Ready: a short flash now and then.
    public static let heartbeat = LEDPattern([80, 2920])
    /// Recording without a stream: a short flash each second.
    public static let quickHeartbeat = LEDPattern([80, 920])
    /// A press is wanted: a flicker too fast to count, then a pause, like a ringing telephone.
    public static let flicker = LEDPattern([50, 50, 50, 50, 50, 50, 50, 1150])
    /// Live with lowered quality: lit with short gaps.
    public static let gaps = LEDPattern([900, 100])
    /// Live without the hardware encoder: lit with two short gaps.
    public static let doubleGaps = LEDPattern([700, 100, 100, 100])
    /// Paused: the camera is not visible, so the LED is dark most of the time, and lit for too long to be a flash.
    public static let longDark = LEDPattern([1000, 2000])
    /// Reconnecting: three short, one long.
    public static let shortShortShortLong = LEDPattern([100, 100, 100, 100, 100, 100, 700, 300])
    /// Stopping and shutting down: long lit, short dark.
    public static let verySlow = LEDPattern([1500, 500])
    /// Reading new configuration: two short, one long.
    public static let shortShortLong = LEDPattern([100, 100, 100, 100, 500, 300])

    /// This many blinks, then a pause long enough to mark the start of the next count.
    public static func count(_ number: Int) -> LEDPattern {
        let blinks = Array(repeating: [250, 250], count: max(number, 1)).flatMap { $0 }
        return LEDPattern(blinks.dropLast() + [1500])
    }

    /// Duration of one cycle; zero for a steady pattern.
    public var period: Duration { steps.reduce(.zero, +) }

    /// Whether it is lit `offset` after its start, and the offset of the next change.
    func phase(at offset: Duration) -> (isLit: Bool, nextChange: Duration?) {
        guard period > .zero, offset >= .zero else { return (startsLit, nil) }
        let rounds = offset.wholeNanoseconds / period.wholeNanoseconds
        var end = Duration.nanoseconds(rounds * period.wholeNanoseconds)
        for (index, step) in steps.enumerated() {
            end += step
            if offset < end { return (index % 2 == 0 ? startsLit : !startsLit, end) }
        }
        return (startsLit, nil)
    }
}

/// Drives one LED: a lasting pattern, and short responses to the button on top of it.
public struct LEDSequencer: Sendable {
    public enum Action: Hashable, Sendable {
        case setLED(isLit: Bool)
        /// Call `timerFired` at this time. Replaces the previous timer; `nil` cancels it.
        case setTimer(MediaTimestamp?)
    }

    /// A short response to the button.
    public enum Answer: Sendable {
        /// The press was detected: the LED inverts for a moment.
        case press
        /// The long press was reached: three quick blinks.
        case longPress
        /// A double press: two blinks, twice as long.
        case doublePress
    }

    private var pattern = LEDPattern.off
    private var patternStart = MediaTimestamp.zero
    private var answer: (blinks: [Bool], start: MediaTimestamp)?
    private var isLit: Bool?
    private static let answerStep: Duration = .milliseconds(100)

    public init() {}

    /// Starts this pattern; if it is already shown, it continues undisturbed.
    public mutating func patternChanged(to pattern: LEDPattern, now: MediaTimestamp) -> [Action] {
        guard pattern != self.pattern || isLit == nil else { return [] }
        self.pattern = pattern
        patternStart = now
        return shown(now: now)
    }

    public mutating func answerWanted(_ answer: Answer, now: MediaTimestamp) -> [Action] {
        switch answer {
        case .press: self.answer = ([!(isLit ?? false)], now)
        case .longPress: self.answer = ([false, true, false, true, false, true], now)
        case .doublePress: self.answer = ([false, true, true, false, true, true, false], now)
        }
        return shown(now: now)
    }

    public mutating func timerFired(now: MediaTimestamp) -> [Action] { shown(now: now) }

    private mutating func shown(now: MediaTimestamp) -> [Action] {
        let (lit, next) = wanted(now: now)
        defer { isLit = lit }
        return (lit == isLit ? [] : [.setLED(isLit: lit)]) + [.setTimer(next)]
    }

    private mutating func wanted(now: MediaTimestamp) -> (isLit: Bool, next: MediaTimestamp?) {
        if let answer {
            let step = Int((now - answer.start).wholeNanoseconds / Self.answerStep.wholeNanoseconds)
            if answer.blinks.indices.contains(step) {
                return (answer.blinks[step], answer.start + Self.answerStep * (step + 1))
            }
            self.answer = nil
        }
        let phase = pattern.phase(at: now - patternStart)
        return (phase.isLit, phase.nextChange.map { patternStart + $0 })
    }
}
