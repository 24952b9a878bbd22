import CFilterKernels
import Filters
import Media

/// Smooths the texture of skin and keeps edges: a guided filter of luma at half size (guided.c), weighted by skin color
/// (skin.c). Each row advances through the steps as soon as its neighbors are available. Only rows that are still needed are
/// kept.
final class SmoothFilter: FrameFilter {
    /// In squared steps of luma. Pores and wrinkles are below it, eyes and nostrils far above.
    private static let textureVariance = 300.0

    private let strength: Double
    private var state: SmoothState?

    init(strength: Double) { self.strength = strength }

    var isIdentity: Bool { strength == 0 }
    var lookahead: Int { state.map { 4 * $0.radius + 2 } ?? 0 }

    func prepare(for format: FrameFormat) {
        let radius = format.size.height < 640 ? 2 : 3
        let window = Double((2 * radius + 1) * (2 * radius + 1))
        let threshold = Self.textureVariance * window * window
        state = SmoothState(
            format,
            cfilter_window(
                radius: radius, threshold: Float(threshold),
                strength: Float(threshold * strength / Double(CFILTER_WHOLE_SKIN))))
    }

    func startFrame(_ fields: TextFields) { state?.startFrame() }

    func apply(to rows: Range<Int>, of planes: FramePlanes) {
        guard let state else { return }
        for row in FramePlanes.chromaRows(of: rows) { state.finish(row, of: planes) }
    }
}

/// State of a frame while its rows pass through. Rows have half size. Beyond the frame, the outermost rows are repeated.
private final class SmoothState {
    let radius: Int
    private let window: cfilter_window
    private let skin: cfilter_skin
    private let meanFactor: UInt16
    private let lastRow: Int

    private let luma: RowRing<UInt8>
    private let lumaSums: RowRing<UInt16>
    private let squareSums: RowRing<Int32>
    private let weights: RowRing<UInt8>
    private let gains: RowRing<UInt16>
    private let offsets: RowRing<UInt16>
    private let gainSums: RowRing<UInt16>
    private let offsetSums: RowRing<UInt16>
    private let meanGains: RowRing<UInt16>
    private let meanOffsets: RowRing<UInt16>
    /// One row at full width.
    private let rowGains: RowRing<UInt16>
    private let rowOffsets: RowRing<UInt16>
    /// Leaves the sums while they are not full yet.
    private let noModel: RowRing<UInt16>
    private let noLuma: RowRing<UInt8>
    /// Full width.
    private let lumaWidth: Int

    // Progress of each step: the number of rows that it has produced, or for sums, the next row to enter.
    private var halvedRows = 0
    private var modelRows = 0
    private var meanRows = 0
    private var enteringLuma = 0
    private var enteringModel = 0
    /// The last row with skin, among the rows that have a model.
    private var lastRowWithSkin = Int.min

    init(_ format: FrameFormat, _ window: cfilter_window) {
        self.window = window
        radius = window.radius
        let (width, side) = (format.chromaWidth, 2 * radius + 1)
        lastRow = format.chromaHeight - 1
        meanFactor = UInt16(65536 * 16 / (side * side))
        skin = Self.skin(format.colors)
        luma = RowRing(count: side + 1, width: width)
        lumaSums = RowRing(count: 1, width: width, padding: radius)
        squareSums = RowRing(count: 1, width: width, padding: radius)
        weights = RowRing(count: 1, width: width)
        gains = RowRing(count: side + 1, width: width)
        offsets = RowRing(count: side + 1, width: width)
        gainSums = RowRing(count: 1, width: width, padding: radius)
        offsetSums = RowRing(count: 1, width: width, padding: radius)
        meanGains = RowRing(count: 3, width: width, padding: 1)
        meanOffsets = RowRing(count: 3, width: width, padding: 1)
        rowGains = RowRing(count: 1, width: width, padding: 1)
        rowOffsets = RowRing(count: 1, width: width, padding: 1)
        noModel = RowRing(count: 1, width: width)
        noLuma = RowRing(count: 1, width: width)
        lumaWidth = format.size.width
    }

    /// Converts chroma to BT.601 limited range, for which skin colors are known.
    private static func skin(_ colors: VideoColors) -> cfilter_skin {
        let given = LumaShares(of: colors)
        let known = LumaShares(of: .bt601)
        let range: Float = colors.isFullRange ? 224.0 / 255 : 1
        // Blue and red minus luma, by the given weights; then luma by the known weights.
        let (blue, red) = (2 * (1 - given.blue), 2 * (1 - given.red))
        let (greenOfBlue, greenOfRed) = (-given.blue / given.green * blue, -given.red / given.green * red)
        let lumaOfBlue = known.blue * blue + known.green * greenOfBlue
        let lumaOfRed = known.red * red + known.green * greenOfRed
        func fixed(_ factor: Float) -> Int16 { Int16((64 * range * factor).rounded()) }
        return cfilter_skin(
            to_601: (
                fixed((blue - lumaOfBlue) / (2 * (1 - known.blue))), fixed(-lumaOfRed / (2 * (1 - known.blue))),
                fixed(-lumaOfBlue / (2 * (1 - known.red))), fixed((red - lumaOfRed) / (2 * (1 - known.red)))
            ))
    }

    func startFrame() {
        (halvedRows, modelRows, meanRows) = (0, 0, 0)
        (enteringLuma, enteringModel) = (-radius, -radius)
        lastRowWithSkin = .min
        lumaSums.clear()
        squareSums.clear()
        gainSums.clear()
        offsetSums.clear()
    }

    private func inside(_ row: Int) -> Int { min(max(0, row), lastRow) }

    /// Finishes the two luma rows that belong to a half-size row.
    func finish(_ row: Int, of planes: FramePlanes) {
        makeMeans(upTo: inside(row + 1), planes)
        // Skip the identity, which gives the same result: no other model affects these rows.
        guard lastRowWithSkin >= row - radius - 1 else { return }
        model(planes.luma(2 * row), row, beside: inside(row - 1))
        if 2 * row + 1 < planes.size.height { model(planes.luma(2 * row + 1), row, beside: inside(row + 1)) }
    }

    private func model(_ luma: UnsafeMutablePointer<UInt8>, _ row: Int, beside other: Int) {
        let count = rowGains.width + 2
        cfilter_between(rowGains.row(0) - 1, meanGains.row(row) - 1, meanGains.row(other) - 1, count)
        cfilter_between(rowOffsets.row(0) - 1, meanOffsets.row(row) - 1, meanOffsets.row(other) - 1, count)
        cfilter_apply_model(luma, lumaWidth, rowGains.row(0), rowOffsets.row(0))
    }

    private func makeMeans(upTo last: Int, _ planes: FramePlanes) {
        while meanRows <= last {
            while enteringModel <= meanRows + radius { enterModel(planes) }
            gainSums.extend(0)
            offsetSums.extend(0)
            let width = meanGains.width
            cfilter_means(meanGains.row(meanRows), gainSums.row(0), width, radius, meanFactor)
            cfilter_means(meanOffsets.row(meanRows), offsetSums.row(0), width, radius, meanFactor)
            meanGains.extend(meanRows)
            meanOffsets.extend(meanRows)
            meanRows += 1
        }
    }

    private func enterModel(_ planes: FramePlanes) {
        let entering = inside(enteringModel)
        if modelRows <= entering { makeModel(planes) }
        let leaving = enteringModel - 2 * radius - 1
        let isFull = leaving >= -radius
        let width = gains.width
        cfilter_move_wide_sums(
            gainSums.row(0), gains.row(entering), isFull ? gains.row(inside(leaving)) : noModel.row(0), width)
        cfilter_move_wide_sums(
            offsetSums.row(0), offsets.row(entering), isFull ? offsets.row(inside(leaving)) : noModel.row(0), width)
        enteringModel += 1
    }

    private func makeModel(_ planes: FramePlanes) {
        while enteringLuma <= modelRows + radius { enterLuma(planes) }
        lumaSums.extend(0)
        squareSums.extend(0)
        let (row, width) = (modelRows, gains.width)
        let hasSkin =
            switch planes.chroma {
            case .pairs: cfilter_skin_of_pairs(weights.row(0), planes.u(row), width, skin)
            case .planes: cfilter_skin_of_planes(weights.row(0), planes.u(row), planes.v(row), width, skin)
            }
        if hasSkin != 0 {
            lastRowWithSkin = row
            cfilter_model(
                gains.row(row), offsets.row(row), lumaSums.row(0), squareSums.row(0), weights.row(0), width, window)
        } else {
            gains.row(row).update(repeating: UInt16(CFILTER_WHOLE_GAIN), count: width)
            offsets.row(row).update(repeating: 0, count: width)
        }
        modelRows += 1
    }

    private func enterLuma(_ planes: FramePlanes) {
        let entering = inside(enteringLuma)
        if halvedRows <= entering { halve(planes) }
        let leaving = enteringLuma - 2 * radius - 1
        let leavingRow = leaving >= -radius ? luma.row(inside(leaving)) : noLuma.row(0)
        cfilter_move_sums(lumaSums.row(0), squareSums.row(0), luma.row(entering), leavingRow, luma.width)
        enteringLuma += 1
    }

    private func halve(_ planes: FramePlanes) {
        let upper = planes.luma(2 * halvedRows)
        // If the height is odd, the last row counts twice.
        let lower = 2 * halvedRows + 1 < planes.size.height ? planes.luma(2 * halvedRows + 1) : upper
        cfilter_halve(luma.row(halvedRows), upper, lower, planes.size.width)
        halvedRows += 1
    }
}
