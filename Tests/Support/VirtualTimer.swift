import Glibc
import LinuxIO
import Media

/// A timer in virtual time as a descriptor: readable after it has expired and, like a timerfd, never writable.
final class VirtualTimer {
    /// The ends of a pipe that holds a byte after the timer has expired.
    private let reading: OwnedFileDescriptor
    private let writing: OwnedFileDescriptor
    private let time: VirtualTime

    init(in time: VirtualTime) throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemCallError("pipe") }
        reading = OwnedFileDescriptor(adopting: ends[0])
        writing = OwnedFileDescriptor(adopting: ends[1])
        self.time = time
        try reading.setNonBlocking()
    }

    deinit { arm(at: nil) }

    var fileDescriptor: Int32 { reading.rawValue }

    /// Expires at `expiry`: at once if that is in the past, never for `nil`. Clears an earlier expiry.
    func arm(at expiry: MediaTimestamp?) {
        let descriptor = writing.rawValue
        time.setAlarm(ObjectIdentifier(self), at: nil) {}
        var byte: UInt8 = 0
        while read(reading.rawValue, &byte, 1) == 1 {}
        time.setAlarm(ObjectIdentifier(self), at: expiry) {
            var byte: UInt8 = 1
            // An empty pipe has room for one byte.
            _ = write(descriptor, &byte, 1)
        }
    }
}
