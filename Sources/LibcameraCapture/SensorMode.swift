import CLibcamera
import Media

/// A way to read a camera's sensor out. Modes differ in what they show: an IMX219's 1920x1080 pixels are the middle third of
/// what it sees, its 1640x1232 all of it. By itself libcamera takes the mode whose number of pixels is nearest, which may be
/// a frame that nobody expects from that lens.
struct SensorMode: Hashable, Sendable {
    let size: FrameSize
    let bitDepth: Int
    /// Width and height of what it shows, in pixels of the whole sensor.
    let seen: FrameSize
    let shortestFrame: Duration

    /// Of fields of view that differ by less, the one is as good as the other.
    private static let smallestLoss = 0.05
    /// More bits than a video needs cost bandwidth from the sensor.
    private static let usualBitDepth = 12

    /// Which mode a stream takes: of those that are fast enough, the ones that show most of the scene in the stream's shape;
    /// of these the smallest that need not be enlarged, since fewer pixels are less work and, where the sensor adds
    /// neighbours, less noise.
    /// - Returns: `nil` when there is no choice.
    static func best(of modes: [SensorMode], for size: FrameSize, frameRate: FrameRate) -> SensorMode? {
        // What the sensor rounds is no reason to crop.
        let longest = frameRate.frameDuration + .microseconds(100)
        let fast = modes.filter { $0.shortestFrame <= longest }
        let fastest = modes.map(\.shortestFrame).min()
        let able = fast.isEmpty ? modes.filter { $0.shortestFrame == fastest } : fast
        guard let widest = able.map({ $0.seenArea(in: size) }).max() else { return nil }
        let wide = able.filter { $0.seenArea(in: size) >= widest * (1 - smallestLoss) }
        let sharp = wide.filter { $0.isAtLeast(size) }
        let largest = wide.map(\.pixelCount).max()
        let candidates = sharp.isEmpty ? wide.filter { $0.pixelCount == largest } : sharp
        return candidates.min { ($0.pixelCount, $0.bitRank) < ($1.pixelCount, $1.bitRank) }
    }

    private var pixelCount: Int { size.width * size.height }

    /// The best first.
    private var bitRank: Int {
        bitDepth <= Self.usualBitDepth ? Self.usualBitDepth - bitDepth : bitDepth
    }

    /// What is left of the field of view in a frame of that shape.
    private func seenArea(in frame: FrameSize) -> Double {
        let scale = Self.scale(of: frame, within: seen)
        return scale * scale * Double(frame.width) * Double(frame.height)
    }

    /// Whether a frame of that size has no more pixels than its part of the mode.
    private func isAtLeast(_ frame: FrameSize) -> Bool { Self.scale(of: frame, within: size) >= 1 }

    private static func scale(of frame: FrameSize, within outer: FrameSize) -> Double {
        min(Double(outer.width) / Double(frame.width), Double(outer.height) / Double(frame.height))
    }
}

extension SensorMode {
    init(_ mode: clibcamera_sensor_mode) {
        size = FrameSize(width: Int(mode.readout.width), height: Int(mode.readout.height))
        bitDepth = Int(mode.readout.bit_depth)
        seen = FrameSize(width: Int(mode.seen_width), height: Int(mode.seen_height))
        shortestFrame = .microseconds(mode.shortest_frame)
    }

    var readout: clibcamera_sensor_readout {
        clibcamera_sensor_readout(
            width: UInt32(size.width), height: UInt32(size.height), bit_depth: UInt32(bitDepth))
    }
}
