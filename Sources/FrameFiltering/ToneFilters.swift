import CFilterKernels
import Filters
import Media

/// Brightens the midtones: luma is screened with itself (W3C, Compositing and Blending Level 1, section 9.1.3) and mixed with
/// the original by the strength: y + strength * y * (1 - y).
final class WhitenFilter: FrameFilter {
    private let strength: Double
    private var curve: (black: UInt8, range: UInt8, factor: UInt16) = (16, 219, 0)

    init(strength: Double) { self.strength = strength }

    var isIdentity: Bool { strength == 0 }

    func prepare(for format: FrameFormat) {
        let factor = UInt16(strength * 65536 / Double(format.lumaRange))
        curve = (format.black, format.lumaRange, factor)
    }

    func apply(to rows: Range<Int>, of planes: FramePlanes) {
        for row in rows {
            cfilter_whiten(planes.luma(row), planes.size.width, curve.black, curve.range, curve.factor)
        }
    }
}

/// Makes the light warmer: gains of 1 + g for red and 1 - g for blue, like a white balance (J. von Kries, 1902), applied as
/// they would act on a gray of the same luma. Black and luma stay unchanged.
final class ReddenFilter: FrameFilter {
    /// The gain g at full strength.
    private static let mostGain = 0.15

    private let strength: Double
    private var tint = cfilter_tint()

    init(strength: Double) { self.strength = strength }

    var isIdentity: Bool { strength == 0 }

    func prepare(for format: FrameFormat) {
        let gain = strength * Self.mostGain
        let shares = LumaShares(of: format.colors)
        let (red, blue) = (Double(shares.red), Double(shares.blue))
        // For a gray of luma 1, red becomes 1 + g, blue 1 - g, and luma grows by g * (red - blue).
        let scale = 256 * (format.colors.isFullRange ? 1 : 224.0 / 219)
        let u = gain * (-1 - red + blue) / (2 * (1 - blue)) * scale
        let v = gain * (1 - red + blue) / (2 * (1 - red)) * scale
        tint = cfilter_tint(black: format.black, u: Int16(u.rounded()), v: Int16(v.rounded()))
    }

    func apply(to rows: Range<Int>, of planes: FramePlanes) {
        for row in FramePlanes.chromaRows(of: rows) {
            let upper = planes.luma(2 * row)
            // If the height is odd, the last row counts twice.
            let lower = 2 * row + 1 < planes.size.height ? planes.luma(2 * row + 1) : upper
            switch planes.chroma {
            case .pairs: cfilter_tint_pairs(planes.u(row), upper, lower, planes.size.width, tint)
            case .planes: cfilter_tint_planes(planes.u(row), planes.v(row), upper, lower, planes.size.width, tint)
            }
        }
    }
}

/// Removes all color.
final class GrayFilter: FrameFilter {
    func apply(to rows: Range<Int>, of planes: FramePlanes) {
        planes.takeColor(FramePlanes.chromaRows(of: rows), 0..<(planes.size.width + 1) / 2)
    }
}
