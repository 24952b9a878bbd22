import Filters
import Media

/// What works on frames in place. Used from one thread.
protocol FrameFilter: AnyObject {
    /// How many rows below those that it works on it reads, as they were before it; an even number.
    var lookahead: Int { get }

    /// Frames stay as they are: it need not be asked.
    var isIdentity: Bool { get }

    /// Frames have this format from now on. Memory is allocated here.
    func prepare(for format: FrameFormat)

    /// Before the rows of each frame.
    func startFrame(_ fields: TextFields)

    /// Called with one range after the other until all rows of the frame were in one. Each starts at an even row. Those above it
    /// are finished; it and `lookahead` rows below it, as far as the frame has any, are as the filter before this one has left
    /// them.
    func apply(to rows: Range<Int>, of planes: FramePlanes)
}

extension FrameFilter {
    var lookahead: Int { 0 }
    var isIdentity: Bool { false }
    func prepare(for format: FrameFormat) {}
    func startFrame(_ fields: TextFields) {}
}

/// All that filters are prepared for.
struct FrameFormat: Hashable {
    let size: FrameSize
    let chroma: FramePlanes.Chroma
    let colors: VideoColors

    init(_ planes: FramePlanes, _ colors: VideoColors) {
        size = planes.size
        chroma = planes.chroma
        self.colors = colors
    }

    /// Chroma samples of a row.
    var chromaWidth: Int { (size.width + 1) / 2 }
    var chromaHeight: Int { (size.height + 1) / 2 }
    /// Luma of black.
    var black: UInt8 { colors.isFullRange ? 0 : 16 }
    /// From black to white.
    var lumaRange: UInt8 { colors.isFullRange ? 255 : 219 }
    /// Chroma without a colour.
    static let noColor: UInt8 = 128
}

/// The shares of red and blue in luma, by the matrices of ITU-T H.273.
struct LumaShares {
    let red: Float
    let blue: Float
    var green: Float { 1 - red - blue }

    init(of colors: VideoColors) {
        (red, blue) =
            switch colors.matrix {
            case 1: (0.2126, 0.0722)
            case 9, 10: (0.2627, 0.0593)
            // BT.601, which is also what frames have that say nothing.
            default: (0.299, 0.114)
            }
    }
}
