import Media

/// Cuts a frame into strips of rows that can be scaled separately with the same result as the whole frame.
///
/// A strip has whole numbers of rows before and after scaling, for both luma and chroma. A filter that shrinks takes samples
/// around the center of the area that a new sample covers and never looks beyond the strip. A filter that enlarges does, so
/// such a frame is not cut.
struct Strip {
    /// Position of a strip in the source and in the scaled frame.
    struct Place: Hashable {
        let sourceRow: Int
        let sourceRows: Int
        let targetRow: Int
        let targetRows: Int
    }

    /// How much may be kept between two steps without leaving the cache: half of the smallest board's cache.
    static let largestByteCount = 256 * 1024
    /// With fewer rows, the overhead of a libyuv call exceeds the gain.
    private static let worthwhileRows = 32

    /// Rows of every strip but the last, which may be shorter.
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
    init(of source: FrameSize, to target: FrameSize) {
        self.init(sourceRow: 0, sourceRows: source.height, targetRow: 0, targetRows: target.height)
    }
}
