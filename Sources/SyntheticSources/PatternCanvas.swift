import Media

/// The planes of an I420 frame to draw on. Coordinates outside the frame are clipped.
struct PatternCanvas {
    let bytes: UnsafeMutableRawBufferPointer
    let size: FrameSize

    private var chromaWidth: Int { (size.width + 1) / 2 }
    private var chromaHeight: Int { (size.height + 1) / 2 }

    /// Fills a rectangle with one color (luma and chroma in limited range).
    func fill(x: Int, y: Int, width: Int, height: Int, color: (y: UInt8, u: UInt8, v: UInt8)) {
        fill(0, size.width, size.height, x, y, width, height, color.y)
        let luma = size.width * size.height
        let (left, top) = (x / 2, y / 2)
        let (right, bottom) = ((x + width + 1) / 2, (y + height + 1) / 2)
        fill(luma, chromaWidth, chromaHeight, left, top, right - left, bottom - top, color.u)
        fill(
            luma + chromaWidth * chromaHeight, chromaWidth, chromaHeight, left, top, right - left, bottom - top,
            color.v)
    }

    private func fill(
        _ offset: Int, _ stride: Int, _ rows: Int, _ x: Int, _ y: Int, _ width: Int, _ height: Int, _ value: UInt8
    ) {
        let (left, right) = (max(0, x), min(stride, x + width))
        guard left < right else { return }
        for row in max(0, y)..<max(0, y, min(rows, y + height)) {
            let start = offset + row * stride
            bytes[start + left..<start + right].initializeAll(to: value)
        }
    }

    /// Copies a gray sprite into the luma plane.
    func draw(sprite: [UInt8], side: Int, x: Int, y: Int) {
        let (left, right) = (max(0, x), min(size.width, x + side))
        guard left < right else { return }
        for row in max(0, y)..<max(0, y, min(size.height, y + side)) {
            let from = (row - y) * side + left - x
            let to = row * size.width
            sprite.withUnsafeBytes {
                bytes[to + left..<to + right].copyAll(
                    from: UnsafeRawBufferPointer(rebasing: $0[from..<from + right - left]))
            }
        }
    }

    /// Restores a square of the luma plane.
    func restore(from frame: [UInt8], x: Int, y: Int, side: Int) {
        let (left, right) = (max(0, x), min(size.width, x + side))
        guard left < right else { return }
        frame.withUnsafeBytes { frame in
            for row in max(0, y)..<max(0, y, min(size.height, y + side)) {
                let columns = row * size.width + left..<row * size.width + right
                bytes[columns].copyAll(from: UnsafeRawBufferPointer(rebasing: frame[columns]))
            }
        }
    }

    /// Draws digits, dots and colons in white on black, as 5x7 dots of `scale` pixels each.
    func write(_ text: String, x: Int, y: Int, scale: Int) {
        let advance = 6 * scale
        fill(
            x: x - scale, y: y - scale, width: text.utf8.count * advance + scale, height: 9 * scale,
            color: (16, 128, 128))
        for (place, character) in text.utf8.enumerated() {
            for (row, bits) in DigitFont.rows(of: character).enumerated() {
                for column in 0..<5 where bits >> (4 - column) & 1 == 1 {
                    fill(
                        0, size.width, size.height, x + place * advance + column * scale, y + row * scale, scale, scale,
                        235)
                }
            }
        }
    }
}

extension Slice<UnsafeMutableRawBufferPointer> {
    fileprivate func copyAll(from source: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: self).copyMemory(from: source)
    }
}

/// The characters of a clock and a counter: 7 rows of 5 dots, the leftmost in bit 4.
enum DigitFont {
    static func rows(of character: UInt8) -> [UInt8] {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digits[Int(character - UInt8(ascii: "0"))]
        case UInt8(ascii: ":"): [0, 4, 4, 0, 4, 4, 0]
        case UInt8(ascii: "."): [0, 0, 0, 0, 0, 4, 4]
        default: []
        }
    }

    private static let digits: [[UInt8]] = [
        [14, 17, 19, 21, 25, 17, 14], [4, 12, 4, 4, 4, 4, 14], [14, 17, 1, 2, 4, 8, 31], [31, 2, 4, 2, 1, 17, 14],
        [2, 6, 10, 18, 31, 2, 2], [31, 16, 30, 1, 1, 17, 14], [6, 8, 16, 30, 17, 17, 14], [31, 1, 2, 4, 8, 8, 8],
        [14, 17, 17, 14, 17, 17, 14], [14, 17, 17, 15, 1, 2, 12],
    ]
}
