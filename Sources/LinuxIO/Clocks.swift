import CLinux
import Glibc
import Media
import Synchronization
import TimeZones

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
        if let replacement = CurrentTime.replacement {
            var nothing: [PollEntry] = []
            // Without a descriptor, this call cannot fail.
            _ = ThreadActivity.wait { try? replacement.poll(&nothing, until: time) }
            return
        }
        // Costs less than `poll`, which would need an array, another look at the clock and the rest of the time.
        var time = timespec(nanoseconds: time.nanoseconds)
        ThreadActivity.wait { while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {} }
    }
}

/// The time of day. It may be wrong (a board without a real-time clock starts in 1970) and may jump.
public enum WallClock {
    /// Whole seconds since 1970-01-01 00:00:00 UTC.
    public static func secondsSince1970() -> Int64 { Int64(time(nil)) }

    /// In the zone.
    public static func calendarTime() -> CalendarTime {
        let seconds = secondsSince1970()
        return CalendarTime(secondsSince1970: seconds, secondsFromUTC: offset(at: seconds).seconds)
    }

    /// The time zone in which people read this program's times. `nil`, the default, is the computer's own: the variable TZ,
    /// or /etc/localtime. May be set by any thread at any time.
    public static var zone: TimeZone? {
        get { currentZone.withLock { $0 } }
        set { currentZone.withLock { $0 = newValue } }
    }

    private static let currentZone = Mutex<TimeZone?>(nil)

    /// What the zone's clocks show at that time, compared with UTC.
    public static func offset(at secondsSince1970: Int64) -> UTCOffset {
        if let zone { return zone.offset(at: secondsSince1970) }
        var seconds = time_t(secondsSince1970)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return .utc }
        return UTCOffset(
            seconds: parts.tm_gmtoff, abbreviation: parts.tm_zone.map { String(cString: $0) } ?? "",
            isDaylightSaving: parts.tm_isdst > 0)
    }

    /// UNIX nanoseconds minus CLOCK_MONOTONIC of the same moment.
    public static func offsetFromMonotonic() -> Int64 {
        var real = timespec()
        clock_gettime(CLOCK_REALTIME, &real)
        let nanoseconds = Int64(real.tv_sec) &* 1_000_000_000 &+ Int64(real.tv_nsec)
        return nanoseconds &- MonotonicClock.now().nanoseconds
    }

    /// How wrong the clock may be, by the kernel; `nil` if nothing disciplines it.
    public static func errorBound() -> Duration? {
        let microseconds = clinux_clock_error()
        return microseconds < 0 ? nil : .microseconds(microseconds)
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
