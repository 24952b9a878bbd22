import Glibc
import LinuxIO
import Media

/// A timer in virtual time as a descriptor: readable when it has expired, and, as timerfd's, never writable.
final class VirtualTimer {
    /// A pipe's ends: one holds a byte when the timer has expired.
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

    /// Expires at `expiry`, at once when that is past; never with `nil`. What has expired before is forgotten.
    func arm(at expiry: MediaTimestamp?) {
        let descriptor = writing.rawValue
        time.setAlarm(ObjectIdentifier(self), at: nil) {}
        var byte: UInt8 = 0
        while read(reading.rawValue, &byte, 1) == 1 {}
        time.setAlarm(ObjectIdentifier(self), at: expiry) {
            var byte: UInt8 = 1
            // One byte has room in an empty pipe.
            _ = write(descriptor, &byte, 1)
        }
    }
}
