import Filters
import Media

/// Draws lines of text.
struct TextRenderer {
    struct Style {
        let color: FilterColor
        let outlineColor: FilterColor
        let background: FilterColor
        /// Where lines lie that are shorter than others: 0 at the left, 1 at the right.
        let alignment: Double
    }

    /// Between the letters and the edges of the background, of a line's height.
    private static let border = 0.2

    private let glyphs: GlyphCache
    private let style: Style

    init(_ glyphs: GlyphCache, _ style: Style) {
        self.glyphs = glyphs
        self.style = style
    }

    private struct Line {
        let glyphs: [(glyph: GlyphCache.Glyph, pen: Double)]
        let width: Double
    }

    /// - Parameter limit: what would be larger is cut off.
    /// - Returns: `nil` for nothing to be seen.
    func render(_ text: String, limit: FrameSize) -> Overlay.Pixels? {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line($0, limit: Double(limit.width)) }
        let widest = lines.map(\.width).max() ?? 0
        guard widest > 0 else { return nil }
        let border =
            glyphs.outline.rounded(.up) + (style.background.alpha > 0 ? (Self.border * glyphs.lineHeight).rounded() : 0)
        let size = FrameSize(
            width: min(Int((widest + 2 * border).rounded(.up)), limit.width),
            height: min(Int((Double(lines.count) * glyphs.lineHeight + 2 * border).rounded(.up)), limit.height))
        var canvas = Canvas(size, style.background)
        for (number, line) in lines.enumerated() {
            let start = border + style.alignment * (widest - line.width)
            let baseline = Int((border + Double(number) * glyphs.lineHeight + glyphs.ascent).rounded())
            // All outlines first: none lies over a neighbour.
            for (glyph, pen) in line.glyphs {
                canvas.draw(glyph.border, Int((start + pen).rounded()), baseline, style.outlineColor)
            }
            for (glyph, pen) in line.glyphs {
                canvas.draw(glyph.fill, Int((start + pen).rounded()), baseline, style.color)
            }
        }
        return canvas.pixels
    }

    /// - Parameter limit: in pixels; what starts beyond it is left out.
    private func line(_ characters: Substring.UnicodeScalarView, limit: Double) -> Line {
        var placed: [(glyph: GlyphCache.Glyph, pen: Double)] = []
        var pen = 0.0
        for character in characters {
            guard pen < limit else { break }
            let glyph = glyphs[character]
            placed.append((glyph, pen))
            pen += glyph.advance
        }
        return Line(glyphs: placed, width: pen)
    }
}

/// Pixels that colours are laid over (T. Porter, T. Duff: Compositing Digital Images, 1984).
private struct Canvas {
    private(set) var pixels: Overlay.Pixels

    init(_ size: FrameSize, _ color: FilterColor) {
        let pixel = Self.channels(color, coverage: 255)
        let bytes = [UInt8](unsafeUninitializedCapacity: 4 * size.pixelCount) { buffer, count in
            for place in buffer.indices { buffer[place] = UInt8(pixel[place % 4]) }
            count = buffer.count
        }
        pixels = Overlay.Pixels(size: size, bytes: bytes)
    }

    /// Red, green, blue and alpha, all multiplied by alpha and coverage.
    private static func channels(_ color: FilterColor, coverage: UInt8) -> SIMD4<UInt32> {
        let alpha = (UInt32(color.alpha) * UInt32(coverage) + 127) / 255
        let channels = SIMD4<UInt32>(UInt32(color.red), UInt32(color.green), UInt32(color.blue), 255)
        return (channels &* alpha &+ 127) / 255
    }

    /// - Parameters:
    ///   - x: of the pen.
    ///   - baseline: the row below the letters.
    mutating func draw(_ coverage: GlyphCache.Coverage, _ x: Int, _ baseline: Int, _ color: FilterColor) {
        let (left, top, width) = (x + coverage.left, baseline - coverage.top, pixels.size.width)
        let columns = (left..<left + coverage.size.width).clamped(to: 0..<width)
        for row in (top..<top + coverage.size.height).clamped(to: 0..<pixels.size.height) {
            for column in columns {
                let covered = coverage.samples[(row - top) * coverage.size.width + column - left]
                guard covered > 0 else { continue }
                let above = Self.channels(color, coverage: covered)
                let place = 4 * (row * width + column)
                for channel in 0..<4 {
                    let below = UInt32(pixels.bytes[place + channel])
                    pixels.bytes[place + channel] = UInt8(
                        min(255, above[channel] + (below * (255 - above[3]) + 127) / 255))
                }
            }
        }
    }
}
