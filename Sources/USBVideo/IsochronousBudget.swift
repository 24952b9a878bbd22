/// What an isochronous endpoint of high speed carries (USB 2.0, section 5.6.3): so many bytes in every so many microframes.
public struct IsochronousBudget: Hashable, Sendable {
    /// Bytes in one service interval: up to three packets of 1024 at high speed.
    public let packetBytes: Int
    /// bInterval of the endpoint: a service interval has 2^(bInterval-1) microframes of 125 µs.
    public let interval: Int

    /// - Parameters are brought into what high speed knows: 1 to 3072 bytes, 1 to 16; more than one packet of 1024 in each
    ///   microframe only. A Raspberry Pi's controller, as its overlay sets it up, has room for 2048 bytes; with more it would
    ///   send nothing at all.
    public init(packetBytes: Int = 2048, interval: Int = 1) {
        let bytes = min(max(1, packetBytes), interval > 1 ? 1024 : 3072)
        // As the kernel's function shares them out among the packets of a microframe.
        let packets = (bytes + 1023) / 1024
        self.packetBytes = bytes / packets * packets
        self.interval = min(max(1, interval), 16)
    }

    /// What the kernel's function makes of the endpoint on a bus of that speed: at full speed it is one packet of 1023 bytes at
    /// the most, and bInterval counts milliseconds instead of microframes.
    public func carried(at speed: USBSpeed) -> IsochronousBudget {
        guard speed == .full else { return self }
        return IsochronousBudget(packetBytes: min(packetBytes, 1023), interval: interval + 3)
    }

    /// A packet starts with a header of its own (UVC 1.5, section 2.4.3.3), as long as the kernel's function writes it.
    private static let headerBytes = 12

    /// Of frames, without the packets' headers.
    public var bytesPerSecond: Int { max(0, packetBytes - Self.headerBytes) * 8000 >> (interval - 1) }

    /// Frames of this size get through at the rate. One packet in sixteen is left to late buffers.
    public func bytesPerFrame(at framesPerSecond: Int) -> Int {
        bytesPerSecond / 16 * 15 / max(1, framesPerSecond)
    }
}
