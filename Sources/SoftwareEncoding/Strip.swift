import Media

/// How a frame is cut into strips of rows that can be scaled each for itself, with the same result as in one piece.
///
/// A strip has a whole number of rows before and after, for luma and chroma alike. A filter that makes a frame
/// smaller takes the samples about the middle of what a new one covers, and never looks beyond the strip; one that
/// enlarges it does, so such a frame stays in one piece.
struct Strip {
    /// Where a strip is, in the source and in the scaled frame.
    struct Place: Hashable {
        let sourceRow: Int
        let sourceRows: Int
        let targetRow: Int
        let targetRows: Int
    }

    /// What is kept between two steps without going to memory and back: half of the smallest board's cache.
    static let largestByteCount = 256 * 1024
    /// A call of libyuv for fewer rows costs more than it saves.
    private static let worthwhileRows = 32

    /// Of all strips but the last one, which may be shorter.
    let sourceRows: Int
    let places: [Place]

    /// - Parameters:
    ///   - source: at least 1x1.
    ///   - target: even sides of at least 2.
    init(of source: FrameSize, to target: FrameSize) {
        let (height, newHeight) = (source.height, target.height)
        guard newHeight <= height, height % 2 == 0 else {
            sourceRows = height
            places = [Place(of: source, to: target)]
            return
        }
        let divisor = Self.greatestCommonDivisor(height, newHeight)
        let isOdd = height / divisor % 2 == 1 || newHeight / divisor % 2 == 1
        let unit = height / divisor * (isOdd ? 2 : 1)
        let newUnit = newHeight / divisor * (isOdd ? 2 : 1)
        let count = max(1, Self.worthwhileRows / unit)
        let rows = min(unit * count, height)
        sourceRows = rows
        places = stride(from: 0, to: height, by: rows).map { row in
            let length = min(rows, height - row)
            return Place(
                sourceRow: row, sourceRows: length, targetRow: row / unit * newUnit, targetRows: length / unit * newUnit
            )
        }
    }

    private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
        second == 0 ? first : greatestCommonDivisor(second, first % second)
    }
}

extension Strip.Place {
    /// The whole frame.
    init(of source: FrameSize, to target: FrameSize) {
        self.init(sourceRow: 0, sourceRows: source.height, targetRow: 0, targetRows: target.height)
    }
}
