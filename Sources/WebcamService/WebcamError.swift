import USBVideo

/// Why a computer gets no frames.
public enum WebcamError: Error, Hashable, Sendable {
    /// The reason from the gadget's creation: no controller, already in use, no driver.
    case unavailable(reason: String)
    /// The port cannot carry any size at any rate.
    case noModes(IsochronousBudget)
    /// The kernel's function has failed.
    case functionFailed(reason: String)
    case frameUnreadable(reason: String)
}

extension WebcamError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unavailable(let reason): reason
        case .noModes(let bus):
            "the device port cannot carry video with packets of \(bus.packetBytes) bytes and interval \(bus.interval), "
                + "as set in devicePort of board.json"
        case .functionFailed(let reason): "the webcam's function: \(reason)"
        case .frameUnreadable(let reason): "a frame cannot be sent to the computer: \(reason)"
        }
    }
}
