import CFilterKernels
import SeededNumbers
import Testing

/// Lanes and scalar twins give the same bytes for rows of any length and position, and touch nothing outside.
@Suite struct KernelTests {
    private static let room = 700

    /// Runs both versions on copies of the same memory.
    private func compare(
        _ name: String, _ random: inout SeededGenerator, maximum: UInt8 = 255,
        _ both: (_ isScalar: Bool, _ bytes: UnsafeMutablePointer<UInt8>, _ width: Int) -> Void
    ) {
        let width = Int.random(in: 0...200, using: &random)
        let offset = Int.random(in: 8...40, using: &random)
        let memory = random.bytes(Self.room).prefix(Self.room).map { maximum == 255 ? $0 : $0 % (maximum + 1) }
        var results = [memory, memory]
        for index in 0...1 {
            results[index].withUnsafeMutableBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return }
                both(index == 1, base + offset, width)
            }
        }
        #expect(results[0] == results[1], "\(name), \(width) samples")
        // The first argument's row: at most twice its width.
        #expect(results[0].prefix(offset) == memory.prefix(offset), "\(name) wrote before the row")
    }

    /// Porter and Duff's "over"; each of its three roundings is off by half a step at most.
    @Test func colorIsBlendedOver() {
        var random = SeededGenerator(seed: 20)
        for _ in 0..<200 {
            let (color, coverage) = (random.bytes(4), random.bytes(64))
            let alphas = random.bytes(64)
            let before = (0..<256).map { place -> UInt8 in
                let alpha = alphas[place / 4]
                return place % 4 == 3 ? alpha : UInt8.random(in: 0...alpha, using: &random)
            }
            var pixels = before
            cfilter_lay_color(&pixels, coverage, 64, color)
            for place in 0..<256 {
                let alpha: Double = Double(color[3]) * Double(coverage[place / 4]) / 255
                let above: Double = place % 4 == 3 ? alpha : Double(color[place % 4]) * alpha / 255
                let below: Double = Double(before[place]) * (255 - alpha) / 255
                #expect(abs(Double(pixels[place]) - above - below) <= 2)
            }
        }
    }

    @Test func lanesAndScalarCodeGiveTheSameBytes() {
        var random = SeededGenerator(seed: 19)
        for round in 0..<400 {
            let others = random.bytes(Self.room)
            let tint = cfilter_tint(
                black: round % 2 == 0 ? 16 : 0, u: Int16.random(in: -127...127, using: &random),
                v: Int16.random(in: -127...127, using: &random))
            let (black, range): (UInt8, UInt8) = round % 2 == 0 ? (16, 219) : (0, 255)
            let factor = UInt16.random(in: 0...UInt16(65536 / Int(range)), using: &random)
            others.withUnsafeBufferPointer { others in
                guard let other = others.baseAddress else { return }
                compare("blend", &random) { isScalar, bytes, width in
                    (isScalar ? cfilter_blend_scalar : cfilter_blend)(bytes, other + 3, other + 210, width)
                }
                compare("mirror", &random) { isScalar, bytes, width in
                    (isScalar ? cfilter_mirror_scalar : cfilter_mirror)(bytes, width)
                }
                compare("mirror_pairs", &random) { isScalar, bytes, width in
                    (isScalar ? cfilter_mirror_pairs_scalar : cfilter_mirror_pairs)(bytes, width)
                }
                compare("whiten", &random) { isScalar, bytes, width in
                    (isScalar ? cfilter_whiten_scalar : cfilter_whiten)(bytes, width, black, range, factor)
                }
                compare("tint_pairs", &random) { isScalar, bytes, width in
                    (isScalar ? cfilter_tint_pairs_scalar : cfilter_tint_pairs)(
                        bytes, other + 1, other + 300, width, tint)
                }
                compare("tint_planes", &random) { isScalar, bytes, width in
                    (isScalar ? cfilter_tint_planes_scalar : cfilter_tint_planes)(
                        bytes, bytes + 300, other + 1, other + 300, width, tint)
                }
                compare("halve", &random) { isScalar, bytes, width in
                    (isScalar ? cfilter_halve_scalar : cfilter_halve)(bytes, other + 5, other + 300, width)
                }
            }
        }
    }

    @Test func lanesAndScalarCodeFindTheSameSkin() {
        var random = SeededGenerator(seed: 20)
        for round in 0..<400 {
            // Near skin colors, so that the weights vary.
            let chroma = random.bytes(Self.room).enumerated().map { $0 % 2 == 0 ? 60 + $1 % 90 : 118 + $1 % 72 }
            let skin = cfilter_skin(to_601: round % 2 == 0 ? (64, 0, 0, 64) : (63, -7, -5, 63))
            chroma.withUnsafeBufferPointer { chroma in
                guard let given = chroma.baseAddress else { return }
                compare("skin_of_pairs", &random) { isScalar, bytes, width in
                    let isFound = (isScalar ? cfilter_skin_of_pairs_scalar : cfilter_skin_of_pairs)(
                        bytes, given + 2, width, skin)
                    bytes[Self.room - 100] = UInt8(isFound)
                }
                compare("skin_of_planes", &random) { isScalar, bytes, width in
                    let isFound = (isScalar ? cfilter_skin_of_planes_scalar : cfilter_skin_of_planes)(
                        bytes, given, given + 301, width, skin)
                    bytes[Self.room - 100] = UInt8(isFound)
                }
            }
        }
    }

    /// The results of both versions in wide rows.
    private struct Wide: Equatable {
        var sums = [UInt16](repeating: 0, count: 256)
        var squares = [Int32](repeating: 0, count: 256)
        var gains = [UInt16](repeating: 7, count: 256)
        var offsets = [UInt16](repeating: 7, count: 256)
        var gainSums = [UInt16](repeating: 0, count: 256)
        var means = [UInt16](repeating: 7, count: 256)
        var between = [UInt16](repeating: 7, count: 256)
        var luma = [UInt8](repeating: 200, count: 512)
    }

    private func wide(_ rows: [[UInt8]], _ weights: [UInt8], width: Int, radius: Int, isScalar: Bool) -> Wide {
        var wide = Wide()
        let none = [UInt8](repeating: 0, count: 256)
        let side = 2 * radius + 1
        let samples = Float(side * side)
        let window = cfilter_window(
            radius: radius, threshold: 300 * samples * samples,
            strength: 300 * samples * samples / Float(CFILTER_WHOLE_SKIN))
        for (index, row) in rows.enumerated() {
            let leaving = index < side ? none : rows[index - side]
            (isScalar ? cfilter_move_sums_scalar : cfilter_move_sums)(&wide.sums, &wide.squares, row, leaving, 250)
        }
        wide.sums.withUnsafeBufferPointer { sums in
            wide.squares.withUnsafeBufferPointer { squares in
                guard let sums = sums.baseAddress, let squares = squares.baseAddress else { return }
                (isScalar ? cfilter_model_scalar : cfilter_model)(
                    &wide.gains, &wide.offsets, sums + 3, squares + 3, weights, width, window)
            }
        }
        let noGains = [UInt16](repeating: 0, count: 256)
        for _ in 0..<side {
            (isScalar ? cfilter_move_wide_sums_scalar : cfilter_move_wide_sums)(
                &wide.gainSums, wide.gains, noGains, width)
        }
        let factor = UInt16(clamping: 65536 * 16 / (side * side))
        wide.gainSums.withUnsafeBufferPointer { sums in
            guard let sums = sums.baseAddress, width > 2 * radius else { return }
            (isScalar ? cfilter_means_scalar : cfilter_means)(
                &wide.means, sums + radius, width - 2 * radius, radius, factor)
        }
        (isScalar ? cfilter_between_scalar : cfilter_between)(&wide.between, wide.means, wide.gains, width)
        wide.means.withUnsafeBufferPointer { means in
            wide.between.withUnsafeBufferPointer { between in
                guard let means = means.baseAddress, let between = between.baseAddress else { return }
                (isScalar ? cfilter_apply_model_scalar : cfilter_apply_model)(
                    &wide.luma, 2 * width, means + 1, between + 1)
            }
        }
        return wide
    }

    @Test func lanesAndScalarCodeGiveTheSameGuidedFilter() {
        var random = SeededGenerator(seed: 21)
        for round in 0..<200 {
            let radius = 1 + round % 3
            let width = Int.random(in: 0...240, using: &random)
            // Flat areas with noise, and pure noise.
            let rows = (0..<2 * radius + 4).map { _ in
                random.bytes(256).map { round % 2 == 0 ? $0 : 100 + $0 % 24 }
            }
            let weights = random.bytes(256).map { $0 % UInt8(CFILTER_WHOLE_SKIN + 1) }
            let lanes = wide(rows, weights, width: width, radius: radius, isScalar: false)
            #expect(lanes == wide(rows, weights, width: width, radius: radius, isScalar: true), "\(width), \(radius)")
            #expect(lanes.gains[width...].allSatisfy { $0 == 7 } && lanes.luma[(2 * width)...].allSatisfy { $0 == 200 })
        }
    }

    @Test func blendingRoundsCorrectlyForAllValues() {
        for rest in 0...255 {
            for source in stride(from: 0, through: 255 - rest, by: 5) {
                var samples = (0...255).map { UInt8($0) }
                cfilter_blend(
                    &samples, [UInt8](repeating: UInt8(source), count: 256),
                    [UInt8](repeating: UInt8(rest), count: 256),
                    256)
                let isRight = samples.enumerated().allSatisfy { below, result in
                    abs(255 * (Int(result) - source) - below * rest) <= 127
                }
                #expect(isRight, "\(source), of the frame \(rest)")
            }
        }
    }
}
