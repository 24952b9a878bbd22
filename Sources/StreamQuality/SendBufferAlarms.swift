import Media

/// Turns the buffer's duration into events with hysteresis: one event for each threshold crossing.
struct SendBufferAlarms: Sendable {
    /// Where the duration is above the high and below the low threshold, and where it is so no longer.
    private let high: Duration
    private let noLongerHigh: Duration
    private let low: Duration
    private let noLongerLow: Duration
    private var isAboveHigh = false
    private var isBelowLow = true
    private var isEmpty = true
    /// Whether the buffer has been full and has not gone down since.
    private(set) var isFull = false
    private var reportedDuration = Duration.zero

    /// How far the duration must return, as a fraction of the maximum, before a threshold crossing counts again. Half
    /// of the least distance between the thresholds, so that the two bands never overlap.
    private static let hysteresis = 0.05
    private static let durationStep = Duration.milliseconds(100)

    var level: SendBufferLevel { isAboveHigh ? .high : isBelowLow ? .low : .between }

    init(limits: SendBufferLimits) {
        high = limits.duration(limits.highThreshold)
        noLongerHigh = limits.duration(limits.highThreshold - Self.hysteresis)
        low = limits.duration(limits.lowThreshold)
        noLongerLow = limits.duration(limits.lowThreshold + Self.hysteresis)
    }

    mutating func durationMeasured(_ duration: Duration, byteCount: Int, _ events: inout [SendBufferEvent]) {
        checkHigh(duration, &events)
        checkLow(duration, byteCount: byteCount, &events)
        let moved = duration - reportedDuration
        if moved >= Self.durationStep || moved <= .zero - Self.durationStep {
            reportedDuration = duration
            events.append(.durationChanged(duration))
        }
    }

    private mutating func checkHigh(_ duration: Duration, _ events: inout [SendBufferEvent]) {
        if duration >= high {
            if !isAboveHigh { events.append(.roseAboveHigh) }
            isAboveHigh = true
        } else if duration < noLongerHigh {
            isAboveHigh = false
            isFull = false
        }
    }

    private mutating func checkLow(_ duration: Duration, byteCount: Int, _ events: inout [SendBufferEvent]) {
        if duration >= noLongerLow {
            isBelowLow = false
            isEmpty = false
            return
        }
        if duration < low, !isBelowLow {
            isBelowLow = true
            events.append(.fellBelowLow)
        }
        if byteCount == 0, !isEmpty {
            isEmpty = true
            events.append(.empty)
        }
    }

    mutating func overfilled(_ events: inout [SendBufferEvent]) {
        if !isFull { events.append(.full) }
        isFull = true
    }
}
