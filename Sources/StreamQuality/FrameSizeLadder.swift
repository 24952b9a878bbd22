import Media

/// The sizes that a stream's frames can have, largest first: the stream's own size, and smaller ones of the same aspect
/// ratio.
///
/// Widths are multiples of 16, so that no encoder pads a row. Heights are even, as 4:2:0 requires, and cropped by the
/// SPS.
public struct FrameSizeLadder: Hashable, Sendable {
    public let sizes: [FrameSize]

    /// Shares of each side; each step removes about half of the pixels.
    private static let shares = [3.0 / 4, 1.0 / 2, 1.0 / 3]
    /// A step must be at least this much smaller, by pixel count.
    private static let leastStep = 0.8
    /// Faces cannot be recognized below this. The longer and the shorter side.
    private static let smallestSides = (320, 180)

    /// - Parameters:
    ///   - full: the stream's own size, which is the largest.
    ///   - smallest: no side is shorter than this size's. If `nil`, a third of each side, but at least 320x180. If it
    ///     is larger than `full`, then `full` is the only size.
    public init(full: FrameSize, smallest: FrameSize? = nil) {
        let floor = smallest ?? Self.floor(of: full)
        var sizes = [full]
        for share in Self.shares {
            guard let size = Self.size(share, of: full, atLeast: floor), let last = sizes.last,
                Double(size.pixelCount) <= Double(last.pixelCount) * Self.leastStep
            else { continue }
            sizes.append(size)
        }
        self.sizes = sizes
    }

    private static func floor(of full: FrameSize) -> FrameSize {
        let (long, short) = smallestSides
        let (width, height) = full.width >= full.height ? (long, short) : (short, long)
        return FrameSize(width: max(width, full.width / 3), height: max(height, full.height / 3))
    }

    /// The size nearest to the share with exactly the same aspect ratio; if there is none, the nearest one.
    private static func size(_ share: Double, of full: FrameSize, atLeast floor: FrameSize) -> FrameSize? {
        let wanted = Double(full.width) * share
        let nearby = stride(from: 16, to: full.width, by: 16).map { width in
            FrameSize(width: width, height: max(2, (width * full.height + full.width) / (2 * full.width) * 2))
        }.filter { size in
            size.width >= floor.width && size.height >= floor.height
                && abs(Double(size.width) - wanted) <= Double(full.width) / 12
        }
        let exact = nearby.filter { $0.hasShape(of: full) }
        return (exact.isEmpty ? nearby : exact).min {
            abs(Double($0.width) - wanted) < abs(Double($1.width) - wanted)
        }
    }

    /// The size for a camera's second stream: half of each side. This step serves most of the poor links (200 to
    /// 470 kbit/s at 15 fps and 1280x720). The next smaller step is then scaled from a quarter of the pixels, and the
    /// Raspberry Pi's image processor outputs this size with each frame anyway. `nil` if there is no such step.
    public var ofSecondStream: FrameSize? {
        sizes.first.flatMap { full in sizes.first { $0.pixelCount * 3 <= full.pixelCount } }
    }

    /// The largest size that gives each pixel this many bits, or the smallest size.
    /// - Parameters:
    ///   - bitsPerFrame: bits available for one frame.
    ///   - bitsPerPixel: greater than 0.
    func largest(forBitsPerFrame bitsPerFrame: Double, bitsPerPixel: Double) -> FrameSize? {
        sizes.first { bitsPerFrame >= bitsPerPixel * Double($0.pixelCount) } ?? sizes.last
    }

    /// The next smaller size; `nil` at the smallest.
    func size(below size: FrameSize) -> FrameSize? { sizes.first { $0.pixelCount < size.pixelCount } }
}
