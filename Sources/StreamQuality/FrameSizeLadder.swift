import Media

/// The sizes that a stream's frames can have, the largest first: the stream's own, and smaller ones of its aspect.
///
/// Widths are multiples of 16, so that no encoder pads a row; heights are even, as 4:2:0 needs, and cropped by the SPS.
public struct FrameSizeLadder: Hashable, Sendable {
    public let sizes: [FrameSize]

    /// Of each side; between two steps about half of the pixels go.
    private static let shares = [3.0 / 4, 1.0 / 2, 1.0 / 3]
    /// A size that is not this much smaller, by its pixels, is no step of its own.
    private static let leastStep = 0.8
    /// Below this nobody recognises anybody: the longer and the shorter side.
    private static let smallestSides = (320, 180)

    /// - Parameters:
    ///   - full: the stream's own size, the ceiling.
    ///   - smallest: no side is to be shorter than its; a third of each side, and not below 320x180, when `nil`. Larger
    ///     than `full`, it leaves that alone.
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

    /// The nearest to the share that has the aspect to the pixel; the nearest of all when there is none.
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

    /// The step that a camera with a second stream gives by itself: half of each side. Of all steps it serves most of the poor
    /// links (from 200 to 470 kbit/s at 15 fps and 1280x720), the next smaller one is scaled from a quarter of the pixels, and
    /// it is what the Raspberry Pi's image processor makes beside each frame in any case. `nil` where there is none.
    public var ofSecondStream: FrameSize? {
        sizes.first.flatMap { full in sizes.first { $0.pixelCount * 3 <= full.pixelCount } }
    }

    /// The largest that gives each pixel so many bits, or the smallest of all.
    /// - Parameters:
    ///   - bitsPerFrame: what one frame may have.
    ///   - bitsPerPixel: more than 0.
    func largest(forBitsPerFrame bitsPerFrame: Double, bitsPerPixel: Double) -> FrameSize? {
        sizes.first { bitsPerFrame >= bitsPerPixel * Double($0.pixelCount) } ?? sizes.last
    }

    /// The next smaller size; `nil` below the smallest.
    func size(below size: FrameSize) -> FrameSize? { sizes.first { $0.pixelCount < size.pixelCount } }
}
