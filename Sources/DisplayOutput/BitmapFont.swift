import Media

/// Draws lines of text.
protocol TextRenderer {
    /// - Parameter height: of the line, in pixels.
    /// - Returns: width of the text in pixels.
    func width(of text: String, height: Int) -> Int

    /// - Parameters:
    /// of the line, in pixels.
    ///   - color: as for `Canvas.fill`.
    func draw(_ text: String, left: Int, top: Int, height: Int, color: UInt32, on canvas: Canvas)
}

/// An ASCII font of 5 by 7 dots. The preview's texts need no more, and it takes only 760 bytes. Other characters appear as a
/// question mark.
struct BitmapFont: TextRenderer {
    /// Of a character with the gap after it, and of a line with the gap below it.
    private static let (advance, lineHeight) = (6, 9)
    private static let (columns, rows) = (5, 7)

    func width(of text: String, height: Int) -> Int { text.unicodeScalars.count * Self.advance * Self.scale(height) }

    func draw(_ text: String, left: Int, top: Int, height: Int, color: UInt32, on canvas: Canvas) {
        let scale = Self.scale(height)
        var left = left
        for character in text.unicodeScalars {
            let glyph = Self.glyph(character)
            for row in 0..<Self.rows {
                for run in Self.runs(glyph, row) {
                    let point = FrameSize(width: run.count * scale, height: scale)
                    canvas.fill(Area(left: left + run.lowerBound * scale, top: top + row * scale, point), color)
                }
            }
            left += Self.advance * scale
        }
    }

    /// Pixels per dot.
    private static func scale(_ height: Int) -> Int { max(1, height / lineHeight) }

    private static func glyph(_ character: Unicode.Scalar) -> UInt64 {
        let index = Int(character.value) - 32
        return glyphs.indices.contains(index) ? glyphs[index] : glyphs[31]
    }

    /// The lit dots of a row, as ranges of columns.
    private static func runs(_ glyph: UInt64, _ row: Int) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for column in 0..<columns {
            let place = 34 - row * columns - column
            guard glyph >> place & 1 == 1 else { continue }
            if let last = runs.last, last.upperBound == column {
                runs[runs.count - 1] = last.lowerBound..<column + 1
            } else {
                runs.append(column..<column + 1)
            }
        }
        return runs
    }

    /// From space to tilde. Seven rows of five dots each; the highest bit is the top left.
    private static let glyphs: [UInt64] = [
        0x000000000, 0x108421004, 0x294000000, 0x2bea52bea, 0x11f4717c4,
        0x674222173, 0x32544564d, 0x108000000, 0x088842082, 0x208210888,
        0x009575480, 0x0084f9080, 0x000001888, 0x0000f0000, 0x00000018c,
        0x044222110, 0x3a33ae62e, 0x11942109f, 0x3a213221f, 0x78217043e,
        0x4a52f8842, 0x7e10f043e, 0x3a10f462e, 0x7c2211084, 0x3a317462e,
        0x3a317842e, 0x018c03180, 0x018c03088, 0x04c8820c1, 0x001f07c00,
        0x418208990, 0x3a2131004, 0x3a37ade0f, 0x114a8fe31, 0x7a31f463e,
        0x3e108420f, 0x7a318c63e, 0x7e10f421f, 0x7e10f4210, 0x3e109c62f,
        0x4631fc631, 0x38842108e, 0x1c4210a4c, 0x4654c5251, 0x42108421f,
        0x4775ac631, 0x4739ace71, 0x3a318c62e, 0x7a31f4210, 0x3a318d64d,
        0x7a31f5251, 0x3e107043e, 0x7c8421084, 0x46318c62e, 0x463152944,
        0x4631ad771, 0x462a22a31, 0x462a51084, 0x7c222221f, 0x39084210e,
        0x410820841, 0x38421084e, 0x115100000, 0x00000001f, 0x208000000,
        0x000e0be2f, 0x421e8c63e, 0x000f8420f, 0x042f8c62f, 0x000e8fe0e,
        0x191e42108, 0x01f18bc2e, 0x421e8c631, 0x100c2108e, 0x080610a4c,
        0x4212a6292, 0x308421083, 0x001ead6b5, 0x001e8c631, 0x000e8c62e,
        0x03d18fa10, 0x01f18bc21, 0x0016cc210, 0x000f8383e, 0x211e42106,
        0x00118c62f, 0x00118a944, 0x0011ad6aa, 0x001151151, 0x02318bc2e,
        0x001f1111f, 0x0c8441083, 0x108421084, 0x608411098, 0x0009ac800,
    ]
}
