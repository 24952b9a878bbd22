import CFilterKernels
import Filters
import Media

/// Draws lines of text.
struct TextRenderer {
    struct Style {
        let color: FilterColor
        let outlineColor: FilterColor
        let background: FilterColor
        /// Position of lines that are shorter than others: 0 is left, 1 is right.
        let alignment: Double
    }

    /// Distance between text and background edge, as a part of the line height.
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

    /// - Parameter limit: anything larger is cut off.
    /// - Returns: `nil` if nothing is visible.
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
            // Draw all outlines first, so that none covers a neighboring letter.
            for (glyph, pen) in line.glyphs {
                canvas.draw(glyph.border, Int((start + pen).rounded()), baseline, style.outlineColor)
            }
            for (glyph, pen) in line.glyphs {
                canvas.draw(glyph.fill, Int((start + pen).rounded()), baseline, style.color)
            }
        }
        return canvas.pixels
    }

    /// - Parameter limit: in pixels; glyphs that start beyond it are omitted.
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

/// Pixels to composite colors onto (T. Porter, T. Duff: Compositing Digital Images, 1984).
private struct Canvas {
    private(set) var pixels: Overlay.Pixels

    init(_ size: FrameSize, _ background: FilterColor) {
        pixels = Overlay.Pixels(size: size, bytes: [UInt8](repeating: 0, count: 4 * size.pixelCount))
        guard background.alpha > 0 else { return }
        let whole = [UInt8](repeating: 255, count: size.pixelCount)
        lay(Self.channels(of: background), over: 0, whole, from: 0, count: size.pixelCount)
    }

    /// - Parameters:
    ///   - x: of the pen.
    ///   - baseline: the row below the letters.
    mutating func draw(_ coverage: GlyphCache.Coverage, _ x: Int, _ baseline: Int, _ color: FilterColor) {
        let (left, top, width) = (x + coverage.left, baseline - coverage.top, pixels.size.width)
        let columns = (left..<left + coverage.size.width).clamped(to: 0..<width)
        guard !columns.isEmpty else { return }
        let channels = Self.channels(of: color)
        for row in (top..<top + coverage.size.height).clamped(to: 0..<pixels.size.height) {
            let start = (row - top) * coverage.size.width + columns.lowerBound - left
            lay(channels, over: row * width + columns.lowerBound, coverage.samples, from: start, count: columns.count)
        }
    }

    private static func channels(of color: FilterColor) -> [UInt8] {
        [color.red, color.green, color.blue, color.alpha]
    }

    /// - Parameters:
    ///   - channels: red, green, blue and alpha of a color.
    ///   - place: index of the first pixel.
    ///   - start: index of its coverage.
    private mutating func lay(
        _ channels: [UInt8], over place: Int, _ coverage: [UInt8], from start: Int, count: Int
    ) {
        guard place + count <= pixels.size.pixelCount, start + count <= coverage.count else { return }
        pixels.bytes.withUnsafeMutableBufferPointer { bytes in
            coverage.withUnsafeBufferPointer { coverage in
                guard let bytes = bytes.baseAddress, let covered = coverage.baseAddress else { return }
                cfilter_lay_color(bytes + 4 * place, covered + start, count, channels)
            }
        }
    }
}
