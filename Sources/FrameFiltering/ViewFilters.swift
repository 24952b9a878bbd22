import CFilterKernels
import Filters
import Media

/// Swaps left and right.
final class MirrorFilter: FrameFilter {
    func apply(to rows: Range<Int>, of planes: FramePlanes) {
        let chromaWidth = (planes.size.width + 1) / 2
        for row in rows { cfilter_mirror(planes.luma(row), planes.size.width) }
        for row in FramePlanes.chromaRows(of: rows) {
            switch planes.chroma {
            case .pairs: cfilter_mirror_pairs(planes.u(row), chromaWidth)
            case .planes:
                cfilter_mirror(planes.u(row), chromaWidth)
                cfilter_mirror(planes.v(row), chromaWidth)
            }
        }
    }
}

/// Blackens everything outside a part of the frame.
final class CropFilter: FrameFilter {
    private let setting: FilterSetting
    private var columns = 0..<0
    private var shownRows = 0..<0
    private var black: UInt8 = 16

    init(_ setting: FilterSetting) { self.setting = setting }

    func prepare(for format: FrameFormat) {
        columns = Self.part(setting.number(.left), setting.number(.width), of: format.size.width)
        shownRows = Self.part(setting.number(.top), setting.number(.height), of: format.size.height)
        black = format.black
    }

    /// Rounded to whole chroma samples.
    private static func part(_ start: Double, _ length: Double, of whole: Int) -> Range<Int> {
        func edge(_ part: Double) -> Int {
            part >= 1 ? whole : min(whole, Int((part * Double(whole) / 2).rounded()) * 2)
        }
        let first = edge(start)
        return first..<max(first, edge(start + length))
    }

    func apply(to rows: Range<Int>, of planes: FramePlanes) {
        let shown = shownRows.clamped(to: rows)
        planes.fill(rows.lowerBound..<shown.lowerBound, 0..<planes.size.width, black)
        planes.fill(shown, 0..<columns.lowerBound, black)
        planes.fill(shown, columns.upperBound..<planes.size.width, black)
        planes.fill(shown.upperBound..<rows.upperBound, 0..<planes.size.width, black)
    }
}

extension FramePlanes {
    /// Fills an area with a gray of this luma.
    /// - Parameter part: must start at a whole chroma sample, and end at one or at the frame's edge.
    func fill(_ rows: Range<Int>, _ columns: Range<Int>, _ luma: UInt8) {
        guard !rows.isEmpty, !columns.isEmpty else { return }
        fill(self.luma(rows.lowerBound), lumaStride, columns, count: rows.count, luma)
        takeColor(FramePlanes.chromaRows(of: rows), columns.lowerBound / 2..<(columns.upperBound + 1) / 2)
    }

    /// - Parameters:
    ///   - rows: of chroma.
    ///   - columns: of chroma.
    func takeColor(_ rows: Range<Int>, _ columns: Range<Int>) {
        switch chroma {
        case .pairs:
            let pairs = 2 * columns.lowerBound..<2 * columns.upperBound
            fill(u(rows.lowerBound), uStride, pairs, count: rows.count, FrameFormat.noColor)
        case .planes:
            fill(u(rows.lowerBound), uStride, columns, count: rows.count, FrameFormat.noColor)
            fill(v(rows.lowerBound), vStride, columns, count: rows.count, FrameFormat.noColor)
        }
    }

    private func fill(
        _ row: UnsafeMutablePointer<UInt8>, _ stride: Int, _ columns: Range<Int>, count: Int, _ value: UInt8
    ) {
        for number in 0..<count {
            (row + number * stride + columns.lowerBound).update(repeating: value, count: columns.count)
        }
    }
}
