import CFilterKernels
import Filters
import Media

/// Left becomes right.
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

/// Black around a part of the frame.
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

    /// In whole samples of chroma.
    private static func part(_ start: Double, _ length: Double, of whole: Int) -> Range<Int> {
        func edge(_ part: Double) -> Int {
            part >= 1 ? whole : min(whole, Int((part * Double(whole) / 2).rounded()) * 2)
        }
        let first = edge(start)
        return first..<max(first, edge(start + length))
    }

    func apply(to rows: Range<Int>, of planes: FramePlanes) {
        let width = planes.size.width
        for row in rows {
            let shown = shownRows.contains(row) ? columns : 0..<0
            planes.fillLuma(row, 0..<shown.lowerBound, black)
            planes.fillLuma(row, shown.upperBound..<width, black)
        }
        for row in FramePlanes.chromaRows(of: rows) {
            let shown = shownRows.contains(2 * row) ? columns.lowerBound / 2..<(columns.upperBound + 1) / 2 : 0..<0
            planes.fillChroma(row, 0..<shown.lowerBound, FrameFormat.noColor)
            planes.fillChroma(row, shown.upperBound..<(width + 1) / 2, FrameFormat.noColor)
        }
    }
}

extension FramePlanes {
    func fillLuma(_ row: Int, _ columns: Range<Int>, _ value: UInt8) {
        (luma(row) + columns.lowerBound).update(repeating: value, count: columns.count)
    }

    /// - Parameter columns: of chroma.
    func fillChroma(_ row: Int, _ columns: Range<Int>, _ value: UInt8) {
        switch chroma {
        case .pairs: (u(row) + 2 * columns.lowerBound).update(repeating: value, count: 2 * columns.count)
        case .planes:
            (u(row) + columns.lowerBound).update(repeating: value, count: columns.count)
            (v(row) + columns.lowerBound).update(repeating: value, count: columns.count)
        }
    }
}
