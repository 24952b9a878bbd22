import Bitstream
import LinuxIO

/// The time of day for recordings.
public struct RecordingClock: Sendable {
    public struct Reading: Hashable, Sendable {
        /// `nil` if the clock is not set.
        public let wallClock: MP4WallClock?
        /// How wrong it may be, by the kernel; `nil` if nothing disciplines it.
        public let error: Duration?

        public init(wallClock: MP4WallClock?, error: Duration?) {
            self.wallClock = wallClock
            self.error = error
        }
    }

    public let read: @Sendable () -> Reading

    public init(_ read: @escaping @Sendable () -> Reading) { self.read = read }

    /// The kernel's.
    /// - Parameter isSet: whether a time server or a real-time clock has set it.
    public static func kernel(isSet: @escaping @Sendable () -> Bool = { WallClock.isPlausible }) -> RecordingClock {
        RecordingClock {
            guard isSet() else { return Reading(wallClock: nil, error: nil) }
            return Reading(
                wallClock: MP4WallClock(offset: WallClock.offsetFromMonotonic()), error: WallClock.errorBound())
        }
    }
}
