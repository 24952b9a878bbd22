import StreamLogic
import Synchronization

/// The encoder in use, for status reports. The video thread writes it, the stream's thread reads it.
public final class EncoderInUse: Sendable {
    private let current = Mutex(EncoderIdentity.software)

    package init() {}

    public var identity: EncoderIdentity {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

extension EncoderIdentity {
    public static let software = EncoderIdentity(name: "openh264", isHardware: false)

    /// - Parameter path: the device node.
    public static func v4l2(_ path: String) -> EncoderIdentity {
        EncoderIdentity(name: "v4l2:\(path)", isHardware: true)
    }
}
