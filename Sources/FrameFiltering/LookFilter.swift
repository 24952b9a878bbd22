import CFilterKernels
import Filters
import Media

/// A look from a `.cube` file.
final class LookFilter: FrameFilter {
    let cube: ColorCube
    private let strength: Double
    private var lattice: Lattice?

    init(_ cube: ColorCube, strength: Double) {
        self.cube = cube
        self.strength = strength
    }

    var isIdentity: Bool { strength == 0 }

    func prepare(for format: FrameFormat) {
        // The lattice depends only on the colors, not on the size.
        guard lattice?.colors != format.colors else { return }
        lattice = Lattice(cube, format, Float(strength))
    }

    func apply(to rows: Range<Int>, of planes: FramePlanes) {
        guard let nodes = lattice?.nodes else { return }
        let step = planes.chroma == .pairs ? 2 : 1
        for row in FramePlanes.chromaRows(of: rows) {
            let upper = planes.luma(2 * row)
            // If the height is odd, the last row counts twice.
            let lower = 2 * row + 1 < planes.size.height ? planes.luma(2 * row + 1) : upper
            cfilter_look_up(upper, lower, planes.size.width, planes.u(row), planes.v(row), step, nodes)
        }
    }
}

/// A cube converted to the luma and chroma of one matrix and range.
private final class Lattice {
    let colors: VideoColors
    let nodes: UnsafeMutablePointer<Int16>

    init(_ cube: ColorCube, _ format: FrameFormat, _ strength: Float) {
        colors = format.colors
        nodes = .allocate(capacity: Int(CFILTER_LATTICE_COUNT))
        nodes.initialize(repeating: 0, count: Int(CFILTER_LATTICE_COUNT))
        let shares = LumaShares(of: format.colors)
        let matrix = cfilter_matrix(
            red: shares.red, blue: shares.blue, black: Float(format.black), luma_range: Float(format.lumaRange),
            chroma_range: format.colors.isFullRange ? 255 : 224)
        cube.samples.withUnsafeBufferPointer { samples in
            guard let first = samples.baseAddress else { return }
            var table = cfilter_cube(
                samples: first, points: cube.points, least: (cube.least[0], cube.least[1], cube.least[2]),
                most: (cube.most[0], cube.most[1], cube.most[2]))
            cfilter_make_lattice(nodes, &table, matrix, strength)
        }
    }

    deinit { nodes.deallocate() }
}
