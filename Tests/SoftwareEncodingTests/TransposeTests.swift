import CTranspose
import SeededNumbers
import Testing

/// Blocks and scalar twins give the same bytes for planes of any size and stride, upside down or not, and touch nothing
/// outside.
@Suite struct TransposeTests {
    /// Fills the memory around the target and between its rows.
    private static let untouched: UInt8 = 7

    /// A plane inside a larger buffer.
    private struct Plane {
        let width: Int
        let height: Int
        let padding: Int
        let isUpsideDown: Bool
        /// Bytes before and after the plane.
        let margin = 96

        init(_ width: Int, _ height: Int, _ random: inout SeededGenerator) {
            self.width = width
            self.height = height
            padding = Int.random(in: 0...40, using: &random)
            isUpsideDown = Bool.random(using: &random)
        }

        var rowLength: Int { width + padding }
        var byteCount: Int { 2 * margin + rowLength * height }
        var start: Int { margin + (isUpsideDown ? rowLength * (height - 1) : 0) }
        var stride: Int { isUpsideDown ? -rowLength : rowLength }

        func place(_ x: Int, _ y: Int) -> Int { start + y * stride + x }
    }

    @Test(arguments: [1, 2, 15, 16, 17, 31, 32, 33, 64, 200, 300], [1, 2, 15, 16, 31, 32, 33, 90])
    func columnsOfAPlaneBecomeRows(width: Int, height: Int) {
        var random = SeededGenerator(seed: UInt64(1000 * width + height))
        for _ in 0..<4 {
            let (source, target) = (Plane(width, height, &random), Plane(height, width, &random))
            let given = random.bytes(source.byteCount)
            var expected = [UInt8](repeating: Self.untouched, count: target.byteCount)
            for y in 0..<height {
                for x in 0..<width { expected[target.place(y, x)] = given[source.place(x, y)] }
            }
            for transpose in [ctranspose_plane, ctranspose_plane_scalar] {
                var made = [UInt8](repeating: Self.untouched, count: target.byteCount)
                given.withUnsafeBufferPointer { from in
                    made.withUnsafeMutableBufferPointer { to in
                        guard let from = from.baseAddress, let to = to.baseAddress else { return }
                        transpose(to + target.start, target.stride, from + source.start, source.stride, width, height)
                    }
                }
                #expect(made == expected)
            }
        }
    }

    @Test(arguments: [1, 2, 7, 8, 9, 16, 31, 100, 150], [1, 2, 15, 16, 31, 32, 33, 90])
    func pairsBecomeTwoPlanes(width: Int, height: Int) {
        var random = SeededGenerator(seed: UInt64(1000 * width + height))
        for _ in 0..<4 {
            let (source, target) = (Plane(2 * width, height, &random), Plane(height, width, &random))
            let given = random.bytes(source.byteCount)
            // V's plane follows U's.
            let second = target.byteCount
            var expected = [UInt8](repeating: Self.untouched, count: 2 * second)
            for y in 0..<height {
                for x in 0..<width {
                    expected[target.place(y, x)] = given[source.place(2 * x, y)]
                    expected[second + target.place(y, x)] = given[source.place(2 * x + 1, y)]
                }
            }
            for transpose in [ctranspose_pairs, ctranspose_pairs_scalar] {
                var made = [UInt8](repeating: Self.untouched, count: 2 * second)
                given.withUnsafeBufferPointer { from in
                    made.withUnsafeMutableBufferPointer { to in
                        guard let from = from.baseAddress, let to = to.baseAddress else { return }
                        transpose(
                            to + target.start, to + second + target.start, target.stride, from + source.start,
                            source.stride, width, height)
                    }
                }
                #expect(made == expected)
            }
        }
    }
}
