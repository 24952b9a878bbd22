import Media

/// Turns the buffer's duration into events with hysteresis: one event for each threshold crossing.
struct SendBufferAlarms: Sendable {
    private let limits: SendBufferLimits
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

    init(limits: SendBufferLimits) { self.limits = limits }

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
        if duration >= limits.duration(limits.highThreshold) {
            if !isAboveHigh { events.append(.roseAboveHigh) }
            isAboveHigh = true
        } else if duration < limits.duration(limits.highThreshold - Self.hysteresis) {
            isAboveHigh = false
            isFull = false
        }
    }

    private mutating func checkLow(_ duration: Duration, byteCount: Int, _ events: inout [SendBufferEvent]) {
        if duration >= limits.duration(limits.lowThreshold + Self.hysteresis) {
            isBelowLow = false
            isEmpty = false
            return
        }
        if duration < limits.duration(limits.lowThreshold), !isBelowLow {
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
