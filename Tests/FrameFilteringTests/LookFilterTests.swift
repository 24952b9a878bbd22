import CFilterKernels
import DevicePorts
import Filters
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import SeededNumbers
import Testing

@testable import FrameFiltering

@Suite struct LookFilterTests {
    /// A `.cube` file of a function of each color.
    static func file(_ points: Int, _ look: (Double, Double, Double) -> [Double]) -> [UInt8] {
        let side = Double(points - 1)
        var lines = ["TITLE \"Test\"", "LUT_3D_SIZE \(points)"]
        for place in 0..<points * points * points {
            let (red, green, blue) = (place % points, place / points % points, place / points / points)
            let made = look(Double(red) / side, Double(green) / side, Double(blue) / side)
            lines.append(made.map { "\($0)" }.joined(separator: " "))
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Warm with more contrast, like typical looks.
    static func warm(_ red: Double, _ green: Double, _ blue: Double) -> [Double] {
        func contrast(_ x: Double) -> Double { x + 0.6 * x * (1 - x) * (2 * x - 1) }
        let gray = 0.3 * red + 0.6 * green + 0.1 * blue
        return [
            min(1, contrast(red) * 1.04 + 0.02), contrast(0.9 * green + 0.1 * gray),
            0.05 + 0.85 * contrast(0.8 * blue + 0.2 * gray),
        ]
    }

    private func withFilters<Result>(
        _ file: [UInt8], _ rest: String = "", _ body: (LoadedFilters) throws -> Result
    ) throws -> Result {
        let directory = try TemporaryDirectory()
        let path = try directory.write(file, to: "look.cube")
        return try body(LoadedFilters(FilterChain(parsing: ["lut,file=\(path)\(rest)"])))
    }

    private static let identity = file(17) { [$0, $1, $2] }

    @Test func identityChangesNothing() throws {
        var random = SeededGenerator(seed: 41)
        for colors in [VideoColors.bt601, .bt709, .jpeg] {
            for (format, width, height) in [(PixelFormat.nv12, 97, 35), (.i420, 64, 34), (.i420, 3, 3)] {
                let given = FrameInMemory(format, width, height, padding: 5, &random)
                var filtered = given
                try withFilters(Self.identity) { try filtered.apply(FilterPass($0), colors) }
                #expect(filtered.bytes == given.bytes, "\(format) \(width)x\(height)")
            }
        }
    }

    @Test func onlySamplesAreWrittenAndBothLayoutsAgree() throws {
        var random = SeededGenerator(seed: 42)
        try withFilters(Self.file(9, Self.warm)) { filters in
            for (width, height) in [(2, 2), (17, 9), (130, 66)] {
                var planes: [[[UInt8]]] = []
                for format in [PixelFormat.nv12, .i420] {
                    var same = SeededGenerator(seed: UInt64(width))
                    var frame = FrameInMemory(format, width, height, padding: 7, &random)
                    try fill(&frame, &same)
                    let given = frame
                    try frame.apply(FilterPass(filters), .bt709)
                    let isSample = frame.isSample
                    #expect(frame.bytes.indices.allSatisfy { isSample[$0] || frame.bytes[$0] == given.bytes[$0] })
                    planes.append(frame.planes)
                }
                #expect(planes[0] == planes[1], "\(width)x\(height)")
            }
        }
    }

    /// Fills any layout with the same samples.
    private func fill(_ frame: inout FrameInMemory, _ random: inout SeededGenerator) throws {
        let (layout, size) = (frame.layout, frame.layout.size)
        let (half, rows) = ((size.width + 1) / 2, (size.height + 1) / 2)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let place = layout.planes[0].offset + y * layout.planes[0].stride + x
                frame.bytes[place] = .random(in: 0...255, using: &random)
            }
        }
        for y in 0..<rows {
            for x in 0..<half {
                for component in 0...1 {
                    let plane = layout.planes[layout.format == .nv12 ? 1 : 1 + component]
                    let place = layout.format == .nv12 ? 2 * x + component : x
                    frame.bytes[plane.offset + y * plane.stride + place] = .random(in: 0...255, using: &random)
                }
            }
        }
    }

    @Test func lanesAndScalarCodeGiveTheSameBytes() throws {
        var random = SeededGenerator(seed: 43)
        let count = Int(CFILTER_LATTICE_COUNT)
        // Any nodes that the lattice may contain.
        var lattice = [Int16](unsafeUninitializedCapacity: count) { buffer, written in
            for place in 0..<count { buffer[place] = Int16.random(in: -8...4087, using: &random) }
            written = count
        }
        for round in 0..<400 {
            let (width, step) = (Int.random(in: 0...99, using: &random), 1 + round % 2)
            let memory = Array(random.bytes(600).prefix(600))
            var results = [memory, memory]
            for index in 0...1 {
                results[index].withUnsafeMutableBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return }
                    let (u, v) = (base + 301, base + (step == 2 ? 302 : 402))
                    let lookUp = index == 0 ? cfilter_look_up : cfilter_look_up_scalar
                    lookUp(base + 3, base + 150 + round % 3, width, u, v, step, &lattice)
                }
            }
            #expect(results[0] == results[1], "\(width) pixels")
            #expect(results[0].prefix(3) == memory.prefix(3) && results[0].suffix(90) == memory.suffix(90))
        }
    }

    @Test func strengthMixesWithTheOriginal() throws {
        let inverted = Self.file(17) { [1 - $0, 1 - $1, 1 - $2] }
        for (strength, expected) in [("1", 195), ("0.5", 126), ("0.25", 91), ("0", 56)] {
            var frame = FrameInMemory(.i420, FrameSize(width: 16, height: 16), y: 56, u: 128, v: 128)
            try withFilters(inverted, ",strength=\(strength)") { filters in
                let pass = FilterPass(filters)
                #expect(pass.isIdle == (strength == "0"))
                try frame.apply(pass, .bt601)
            }
            #expect(frame.planes[0].allSatisfy { abs(Int($0) - expected) <= 1 }, "\(strength): \(frame.planes[0][0])")
            #expect(frame.planes[1...2].joined().allSatisfy { $0 == 128 })
        }
    }

    /// Inverting a saturated red, by matrix and range.
    @Test func framesOwnMatrixAndRangeApply() throws {
        let inverted = Self.file(17) { [1 - $0, 1 - $1, 1 - $2] }
        for (colors, red, cyan) in [
            (VideoColors.bt601, [81, 90, 240], [170, 166, 16]), (.bt709, [63, 102, 240], [188, 154, 16]),
            (.jpeg, [76, 85, 255], [179, 171, 1]),
        ] {
            var frame = FrameInMemory(
                .nv12, FrameSize(width: 8, height: 8), y: UInt8(red[0]), u: UInt8(red[1]), v: UInt8(red[2]))
            try withFilters(inverted) { try frame.apply(FilterPass($0), colors) }
            let made = frame.planes.map { Int($0[0]) }
            #expect(zip(made, cyan).allSatisfy { abs($0 - $1) <= 2 }, "\(made), not \(cyan)")
        }
    }

    @Test func tablesDomainApplies() throws {
        // A table that maps colors from 0.25 to 0.75 to the range 0 to 1.
        let narrow = Array("DOMAIN_MIN 0.25 0.25 0.25\nDOMAIN_MAX 0.75 0.75 0.75\n".utf8) + Self.identity
        for (given, expected) in [(16, 16), (40, 16), (126, 126), (153, 180), (200, 235), (235, 235)] {
            var frame = FrameInMemory(.i420, FrameSize(width: 4, height: 4), y: UInt8(given), u: 128, v: 128)
            try withFilters(narrow) { try frame.apply(FilterPass($0), .bt601) }
            #expect(abs(Int(frame.planes[0][0]) - expected) <= 2, "\(given) became \(frame.planes[0][0])")
        }
    }

    @Test func liveStrengthChangeReadsNoFileButAFileChangeDoes() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Self.identity, to: "look.cube")
        var chain = try FilterChain(parsing: ["lut,file=\(path)"])
        let first = try LoadedFilters(chain)
        let look = try #require(first.filter(for: chain.settings[0]) as? LookFilter)
        try chain.set(FilterChange(parsing: "lut strength=0.5"))
        #expect(unlink(path) == 0)
        let weaker = try LoadedFilters(chain, reusing: first)
        #expect(weaker.hasSameFiles(as: look), "the file is gone, the table is in memory")
        let other = try directory.write(Self.file(9, Self.warm), to: "other.cube")
        try chain.set(FilterChange(parsing: "lut file=\(other)"))
        #expect(chain.settings[0].description == "lut,file=\(other),strength=0.5")
        #expect(try !LoadedFilters(chain, reusing: weaker).hasSameFiles(as: look))
    }

    @Test func brokenFilesAreRefusedWithPathAndLine() throws {
        let directory = try TemporaryDirectory()
        func refusal(_ path: String) -> FilteringError? {
            do throws(FilteringError) {
                _ = try LoadedFilters((try? FilterChain(parsing: ["lut,file=\(path)"])) ?? FilterChain())
                return nil
            } catch {
                return error
            }
        }
        let path = try directory.write(Array("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n".utf8), to: "curve.cube")
        #expect(
            refusal(path).map { "\($0)" }
                == "filter lut: \(path), line 1: LUT_1D_SIZE: one-dimensional tables are not supported; export the look as a "
                + "3D LUT")
        let large = try directory.write([UInt8](repeating: 10, count: ColorCube.largestFile + 1), to: "large.cube")
        for (path, number) in [(large, EFBIG), ("/nowhere/look.cube", ENOENT), ("/tmp", EISDIR), ("/dev/zero", EINVAL)]
        {
            guard case .unreadableFile(FilterID(.lut), let error) = refusal(path) else {
                Issue.record("\(path): \(String(describing: refusal(path)))")
                continue
            }
            #expect(error.number == number)
        }
    }
}
