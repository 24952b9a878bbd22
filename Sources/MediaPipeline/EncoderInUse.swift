import StreamLogic
import Synchronization

/// The name of the encoder that works now, for status reports. The video thread writes, the stream's thread reads.
public final class EncoderInUse: Sendable {
    public static let software = "openh264"
    private let current = Mutex(EncoderInUse.software)

    public var name: String {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    public var identity: EncoderIdentity {
        let name = name
        return EncoderIdentity(name: name, isHardware: name != Self.software)
    }
}
