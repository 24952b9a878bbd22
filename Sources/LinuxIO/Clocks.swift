import Glibc
import Media

/// CLOCK_MONOTONIC: the clock of every `now:` parameter and of capture times.
public enum MonotonicClock {
    public static func now() -> MediaTimestamp {
        if let time = CurrentTime.replacement { return time.now() }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MediaTimestamp(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Sleeps until the clock shows `time`; returns at once if that is in the past.
    public static func sleep(until time: MediaTimestamp) {
        var nothing: [PollEntry] = []
        // Without a descriptor, this call cannot fail.
        _ = try? poll(&nothing, until: time)
    }
}

/// The time of day. It may be wrong (a board without a real-time clock starts in 1970) and may jump.
public enum WallClock {
    /// Whole seconds since 1970-01-01 00:00:00 UTC.
    public static func secondsSince1970() -> Int64 { Int64(time(nil)) }

    public static func calendarTime() -> CalendarTime {
        var seconds = time_t(secondsSince1970())
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return CalendarTime(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
    }

    /// False while the clock still shows its start value: 1970, or the build date of an image.
    public static var isPlausible: Bool { secondsSince1970() > 1_735_689_600 }
}

extension timespec {
    /// A duration or a point in time; negative values become zero.
    init(nanoseconds: Int64) {
        let clamped = max(0, nanoseconds)
        self.init(tv_sec: Int(clamped / 1_000_000_000), tv_nsec: Int(clamped % 1_000_000_000))
    }
}
