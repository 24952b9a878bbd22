import Bitstream
import LinuxIO
import Media

/// Writes the time of day of its capture into each frame.
public struct FrameTimecode: Sendable {
    public struct Reading: Sendable {
        /// UNIX nanoseconds minus those of a `MediaTimestamp` of the same moment.
        public let offset: Int64
        public let isLocked: Bool

        public init(offset: Int64, isLocked: Bool) {
            self.offset = offset
            self.isLocked = isLocked
        }
    }

    private let read: @Sendable () -> Reading?

    /// - Parameter read: `nil` while the clock is not set.
    public init(_ read: @escaping @Sendable () -> Reading?) { self.read = read }

    /// By the kernel's clock; locked while the kernel knows how wrong it may be.
    public static let kernel = FrameTimecode {
        guard WallClock.isPlausible else { return nil }
        return Reading(offset: WallClock.offsetFromMonotonic(), isLocked: WallClock.errorBound() != nil)
    }

    /// Frames get a time stamp; headers stay as they are.
    func stamp(_ packet: inout EncodedPacket) {
        guard packet.isVideo, !packet.isHeader, let reading = read() else { return }
        let (time, isTooLate) = packet.decodeTime.nanoseconds.addingReportingOverflow(reading.offset)
        guard !isTooLate, time >= 0 else { return }
        PrecisionTimeStamp(microseconds: UInt64(time / 1000), isLocked: reading.isLocked).insert(into: &packet.payload)
    }
}
