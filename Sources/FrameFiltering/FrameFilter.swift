import Filters
import Media

/// Modifies frames in place. Used from one thread.
protocol FrameFilter: AnyObject {
    /// How many unmodified rows it reads below those that it works on; an even number.
    var lookahead: Int { get }

    /// Whether it changes nothing, so that it can be skipped.
    var isIdentity: Bool { get }

    /// Sets the format of the following frames. This is where memory is allocated.
    func prepare(for format: FrameFormat)

    /// Called before the rows of each frame.
    func startFrame(_ fields: TextFields)

    /// Called with consecutive ranges that cover all rows of the frame. Each starts at an even row. Rows above the range are
    /// finished. The range itself and `lookahead` rows below it, if the frame has them, are in the state that the previous
    /// filter left them in.
    func apply(to rows: Range<Int>, of planes: FramePlanes)
}

extension FrameFilter {
    var lookahead: Int { 0 }
    var isIdentity: Bool { false }
    func prepare(for format: FrameFormat) {}
    func startFrame(_ fields: TextFields) {}
}

/// Everything that filters are prepared for.
struct FrameFormat: Hashable {
    let size: FrameSize
    let chroma: FramePlanes.Chroma
    let colors: VideoColors

    init(_ planes: FramePlanes, _ colors: VideoColors) {
        size = planes.size
        chroma = planes.chroma
        self.colors = colors
    }

    /// Chroma samples per row.
    var chromaWidth: Int { (size.width + 1) / 2 }
    var chromaHeight: Int { (size.height + 1) / 2 }
    /// The luma of black.
    var black: UInt8 { colors.isFullRange ? 0 : 16 }
    /// The distance from black to white.
    var lumaRange: UInt8 { colors.isFullRange ? 255 : 219 }
    /// The chroma of gray.
    static let noColor: UInt8 = 128
}

/// The weights of red and blue in luma, by the matrices of ITU-T H.273.
struct LumaShares {
    let red: Float
    let blue: Float
    var green: Float { 1 - red - blue }

    init(of colors: VideoColors) {
        (red, blue) =
            switch colors.matrix {
            case 1: (0.2126, 0.0722)
            case 9, 10: (0.2627, 0.0593)
            // BT.601, which is also assumed for frames without color information.
            default: (0.299, 0.114)
            }
    }
}
