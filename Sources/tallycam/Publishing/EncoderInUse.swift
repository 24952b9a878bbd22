import Synchronization
import V4L2Devices

/// The name of the encoder that works now, for status reports. The video thread writes, the main thread reads.
final class EncoderInUse: Sendable {
    static let software = "openh264"
    private let current = Mutex(EncoderInUse.software)
    private let found = Mutex<HardwareEncoder?>(nil)

    /// The one that the stream uses, or goes back to; `nil` where software was the plain choice.
    var hardware: HardwareEncoder? {
        get { found.withLock { $0 } }
        set { found.withLock { $0 = newValue } }
    }

    var name: String {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
