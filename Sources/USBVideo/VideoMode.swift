import Media

/// The format in which frames are sent to the computer.
public enum VideoCoding: String, CaseIterable, Sendable {
    /// Each frame is a separate JPEG.
    case mjpeg
    /// Luma, and interleaved chroma at half width and height.
    case nv12
    /// Y U Y V for each two pixels.
    case yuyv

    /// Of a raw frame; `nil` if it depends on the frame.
    public var bitsPerPixel: Int? {
        switch self {
        case .mjpeg: nil
        case .nv12: 12
        case .yuyv: 16
        }
    }
}

/// A size in one coding, with the frame rates that the bus can carry: one of the computer's choices.
public struct VideoMode: Hashable, Sendable {
    public let coding: VideoCoding
    public let size: FrameSize
    /// In units of 100 ns, shortest first. Never empty.
    public let intervals: [UInt32]
    /// Upper limit of a frame's bytes.
    public let largestFrame: Int

    /// The interval for computers that do not ask for one.
    public var usualInterval: UInt32 { intervals[0] }

    /// The highest bits per second at an interval.
    public func bitRate(at interval: UInt32) -> UInt32 {
        let rate = UInt64(largestFrame) * 8 * 10_000_000 / UInt64(max(1, interval))
        return UInt32(clamping: rate)
    }

    /// - Returns: `nil` if the bus cannot carry any of the rates.
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

    /// Pixels per byte of JPEG. At half a bit per pixel, faces are still recognizable.
    private static let densestPixels = 16
}

extension VideoMode: CustomStringConvertible {
    public var description: String { "\(coding.rawValue) \(size)" }
}
