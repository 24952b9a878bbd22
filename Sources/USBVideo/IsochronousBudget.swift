/// What a high-speed isochronous endpoint can carry (USB 2.0, section 5.6.3): a number of bytes every few microframes.
public struct IsochronousBudget: Hashable, Sendable {
    /// Bytes per service interval: up to three packets of 1024 at high speed.
    public let packetBytes: Int
    /// bInterval of the endpoint: a service interval has 2^(bInterval-1) microframes of 125 µs.
    public let interval: Int

    /// The values are clamped to high speed's limits: 1 to 3072 bytes, and bInterval 1 to 16. More than one packet of 1024
    /// bytes is possible only in every microframe. The Raspberry Pi's controller, as its overlay configures it, has room for
    /// 2048 bytes; with more, it would send nothing at all.
    public init(packetBytes: Int = 2048, interval: Int = 1) {
        let bytes = min(max(1, packetBytes), interval > 1 ? 1024 : 3072)
        // The kernel's function distributes them evenly over the packets of a microframe.
        let packets = (bytes + 1023) / 1024
        self.packetBytes = bytes / packets * packets
        self.interval = min(max(1, interval), 16)
    }

    /// The endpoint's budget at a bus speed, as the kernel's function adapts it. At full speed, it is one packet of 1023 bytes
    /// at most, and bInterval counts milliseconds instead of microframes.
    public func carried(at speed: USBSpeed) -> IsochronousBudget {
        guard speed == .full else { return self }
        return IsochronousBudget(packetBytes: min(packetBytes, 1023), interval: interval + 3)
    }

    /// Each packet starts with a header (UVC 1.5, section 2.4.3.3); this is its length in the kernel's function.
    private static let headerBytes = 12

    /// For frames, excluding packet headers.
    public var bytesPerSecond: Int { max(0, packetBytes - Self.headerBytes) * 8000 >> (interval - 1) }

    /// The largest frame size that gets through at this rate. One packet in sixteen is reserved for late buffers.
    public func bytesPerFrame(at framesPerSecond: Int) -> Int {
        bytesPerSecond / 16 * 15 / max(1, framesPerSecond)
    }
}
