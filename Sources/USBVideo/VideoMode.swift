import Media

/// How a frame travels to the computer.
public enum VideoCoding: String, CaseIterable, Sendable {
    /// Each frame a JPEG of its own.
    case mjpeg
    /// Luma and interleaved chroma at half width and height.
    case nv12
    /// Y U Y V for every two pixels.
    case yuyv

    /// Of a raw frame; `nil` where that depends on the frame.
    public var bitsPerPixel: Int? {
        switch self {
        case .mjpeg: nil
        case .nv12: 12
        case .yuyv: 16
        }
    }
}

/// One size in one coding, with the rates that the bus carries it at: what a computer can choose.
public struct VideoMode: Hashable, Sendable {
    public let coding: VideoCoding
    public let size: FrameSize
    /// In units of 100 ns, the shortest first. Never empty.
    public let intervals: [UInt32]
    /// No frame is larger.
    public let largestFrame: Int

    /// The rate that computers get which ask for none.
    public var usualInterval: UInt32 { intervals[0] }

    /// Bits a second at an interval, at the most.
    public func bitRate(at interval: UInt32) -> UInt32 {
        let rate = UInt64(largestFrame) * 8 * 10_000_000 / UInt64(max(1, interval))
        return UInt32(clamping: rate)
    }

    /// - Returns: `nil` where the bus carries none of the rates.
    init?(_ coding: VideoCoding, _ size: FrameSize, rates: [Int], on bus: IsochronousBudget) {
        let smallestFrame = coding.bitsPerPixel.map { size.pixelCount * $0 / 8 } ?? size.pixelCount / Self.densestPixels
        let fitting = rates.filter { bus.bytesPerFrame(at: $0) >= smallestFrame }
        guard let fastest = fitting.first else { return nil }
        self.coding = coding
        self.size = size
        intervals = fitting.map { UInt32(10_000_000 / $0) }
        largestFrame =
            coding.bitsPerPixel == nil
            ? min(bus.bytesPerFrame(at: fastest), size.pixelCount * 2) : smallestFrame
    }

    /// Pixels to a byte of JPEG: at half a bit each, faces are still known.
    private static let densestPixels = 16
}

extension VideoMode: CustomStringConvertible {
    public var description: String { "\(coding.rawValue) \(size)" }
}
