import CFreeType
import Filters
import Media

/// Glyphs of one font in one size, each drawn only once. Used from one thread.
final class GlyphCache {
    /// Pixel coverage, from 0 to 255.
    struct Coverage {
        let samples: [UInt8]
        let size: FrameSize
        /// From the pen to the left edge, rightwards.
        let left: Int
        /// From the baseline to the top edge, upwards.
        let top: Int

        init(_ bitmap: cfreetype_bitmap) {
            left = Int(bitmap.left)
            top = Int(bitmap.top)
            guard let samples = bitmap.samples, bitmap.width > 0, bitmap.height > 0, bitmap.stride >= bitmap.width
            else {
                self.samples = []
                size = FrameSize(width: 0, height: 0)
                return
            }
            size = FrameSize(width: Int(bitmap.width), height: Int(bitmap.height))
            self.samples = (0..<size.height).flatMap { row in
                UnsafeBufferPointer(start: samples + row * Int(bitmap.stride), count: Int(bitmap.width))
            }
        }
    }

    struct Glyph {
        let fill: Coverage
        /// The stroke around the glyph; empty without an outline.
        let border: Coverage
        /// Pixels to the next glyph's pen.
        let advance: Double
    }

    /// A clock uses ten different characters. Those of a large title take as many pixels as a frame.
    private static let mostBytes = 4 << 20

    /// Pixels between baselines.
    let lineHeight: Double
    /// In pixels; 0 for none.
    let outline: Double
    /// From the top of a line to its baseline.
    let ascent: Double
    private let file: FontFile
    private let font: OpaquePointer
    private var glyphs: [Unicode.Scalar: Glyph] = [:]
    private var byteCount = 0

    /// - Returns: `nil` for lack of memory, or if the font has no size close to that.
    init?(_ file: FontFile, lineHeight: Double, outline: Double) {
        guard let font = file.open() else { return nil }
        var ascent = 0.0
        guard cfreetype_set_line_height(font, lineHeight, &ascent) == 0 else {
            cfreetype_close(font)
            return nil
        }
        self.file = file
        self.font = font
        self.lineHeight = lineHeight
        self.outline = outline
        self.ascent = ascent
    }

    deinit { cfreetype_close(font) }

    subscript(character: Unicode.Scalar) -> Glyph {
        if let known = glyphs[character] { return known }
        var (fill, border, advance) = (cfreetype_bitmap(), cfreetype_bitmap(), 0.0)
        // A glyph that is broken in the font is skipped; the rest of the text is drawn.
        let status = cfreetype_draw(font, character.value, outline, &fill, &border, &advance)
        if status != 0 { (fill, border) = (cfreetype_bitmap(), cfreetype_bitmap()) }
        let largest = 4 * lineHeight
        let glyph = Glyph(
            fill: Coverage(fill), border: Coverage(border), advance: min(max(advance, -largest), largest))
        // Glyphs without pixels need memory too.
        byteCount += glyph.fill.samples.count + glyph.border.samples.count + 256
        if byteCount > Self.mostBytes {
            glyphs.removeAll()
            byteCount = 0
        }
        glyphs[character] = glyph
        return glyph
    }
}
