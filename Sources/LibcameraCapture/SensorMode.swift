import CLibcamera
import Media

/// A way to read out a camera's sensor. Modes differ in their field of view: an IMX219's 1920x1080 mode is the middle third of
/// the sensor, its 1640x1232 mode the whole. libcamera by default takes the mode with the nearest number of pixels, which may
/// crop the view unexpectedly.
struct SensorMode: Hashable, Sendable {
    let size: FrameSize
    let bitDepth: Int
    /// Width and height of the field of view, in pixels of the whole sensor.
    let seen: FrameSize
    let shortestFrame: Duration

    /// Fields of view that differ by less than this count as equal.
    private static let smallestLoss = 0.05
    /// More bits than video needs would waste the sensor's bandwidth.
    private static let usualBitDepth = 12

    /// The mode for a stream. Among the modes that are fast enough, picks those that show most of the scene in the stream's
    /// shape. Of these, picks the smallest that need not be enlarged: fewer pixels are less work and, if the sensor bins them,
    /// less noisy.
    /// - Returns: `nil` if there is no choice.
    static func best(of modes: [SensorMode], for size: FrameSize, frameRate: FrameRate) -> SensorMode? {
        // Rounding by the sensor must not force a crop.
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

    /// Lower is better.
    private var bitRank: Int {
        bitDepth <= Self.usualBitDepth ? Self.usualBitDepth - bitDepth : bitDepth
    }

    /// The part of the field of view that remains in a frame of this shape.
    private func seenArea(in frame: FrameSize) -> Double {
        let scale = Self.scale(of: frame, within: seen)
        return scale * scale * Double(frame.width) * Double(frame.height)
    }

    /// Whether the mode has enough pixels for the frame, so that nothing is enlarged.
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
