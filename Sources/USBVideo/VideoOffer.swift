import Media

/// All modes that the camera offers to a computer, in the order of their descriptors.
public struct VideoOffer: Hashable, Sendable {
    /// The modes of one coding, in one format descriptor.
    public struct Format: Hashable, Sendable {
        public let coding: VideoCoding
        public let modes: [VideoMode]
    }

    /// Never empty where the bus carries anything.
    public let formats: [Format]

    /// What the bus carries of the usual modes; those it cannot carry are not offered.
    public init(on bus: IsochronousBudget) {
        // The kernel looks for a raw size in both raw formats: they have the same, those of the larger one.
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

    /// - Parameters: indices of descriptors, from 1 on.
    public func mode(format: Int, frame: Int) -> VideoMode? {
        guard formats.indices.contains(format - 1), formats[format - 1].modes.indices.contains(frame - 1) else {
            return nil
        }
        return formats[format - 1].modes[frame - 1]
    }
}

/// What a computer has chosen.
public struct VideoChoice: Hashable, Sendable {
    public let mode: VideoMode
    /// In units of 100 ns, one of the mode's.
    public let interval: UInt32

    public init(mode: VideoMode, interval: UInt32) {
        self.mode = mode
        self.interval = interval
    }

    public var framesPerSecond: Double { 10_000_000 / Double(max(1, interval)) }
}
