import Media

/// All modes that the camera offers, in the order of their descriptors.
public struct VideoOffer: Hashable, Sendable {
    /// The modes of one coding: a format descriptor.
    public struct Format: Hashable, Sendable {
        public let coding: VideoCoding
        public let modes: [VideoMode]
    }

    /// Empty only if the bus can carry nothing.
    public let formats: [Format]

    /// Offers the usual modes that the bus can carry.
    public init(on bus: IsochronousBudget) {
        // The kernel looks up a raw size in both raw formats, so both must offer the same sizes: those of the larger format.
        let raw = Self.small.filter { VideoMode(.yuyv, $0, rates: Self.rates, on: bus) != nil }
        formats = VideoCoding.allCases.compactMap { coding in
            let sizes = coding == .mjpeg ? Self.small + Self.large : raw
            let modes = sizes.compactMap { VideoMode(coding, $0, rates: Self.rates, on: bus) }
            return modes.isEmpty ? nil : Format(coding: coding, modes: modes)
        }
    }

    private static let rates = [30, 25, 20, 15, 10, 5]

    private static let small = [FrameSize(width: 640, height: 360), FrameSize(width: 640, height: 480)]
    private static let large = [FrameSize(width: 1280, height: 720), FrameSize(width: 1920, height: 1080)]

    /// - Parameters: descriptor indices, starting at 1.
    public func mode(format: Int, frame: Int) -> VideoMode? {
        guard formats.indices.contains(format - 1), formats[format - 1].modes.indices.contains(frame - 1) else {
            return nil
        }
        return formats[format - 1].modes[frame - 1]
    }
}

/// A computer's choice.
public struct VideoChoice: Hashable, Sendable {
    public let mode: VideoMode
    /// In units of 100 ns; one of the mode's intervals.
    public let interval: UInt32

    public init(mode: VideoMode, interval: UInt32) {
        self.mode = mode
        self.interval = interval
    }

    public var framesPerSecond: Double { 10_000_000 / Double(max(1, interval)) }
}
